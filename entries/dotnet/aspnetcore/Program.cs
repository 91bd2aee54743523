// ASP.NET Core: a minimal API with one route on Kestrel.
//
// How many workers there are is not said here: the runtime reads it from its environment.

using System.Net;

if (args.Length is < 4 or > 5)
{
    return Refuse("usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
}
if (args[0] != "hello")
{
    return Refuse($"unknown scenario {args[0]}");
}
if (!IPAddress.TryParse(args[1], out IPAddress? host))
{
    return Refuse($"HOST must be an IPv4 or IPv6 address, not {args[1]}");
}
if (!ushort.TryParse(args[2], out ushort port))
{
    return Refuse($"PORT must be a number from 0 to 65535, not {args[2]}");
}
if (!int.TryParse(args[3], out int workers) || workers != Environment.ProcessorCount)
{
    return Refuse($"WORKERS must be what DOTNET_PROCESSOR_COUNT is, not {args[3]}");
}

WebApplicationBuilder builder = WebApplication.CreateBuilder();
// The log goes to standard output, where only the ready line may stand.
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(options => options.Listen(host, port));
// Connections are kept and never finish by themselves: the end does not wait for them.
builder.Services.Configure<HostOptions>(
    options => options.ShutdownTimeout = TimeSpan.FromMilliseconds(500));

WebApplication app = builder.Build();
app.MapGet("/", () => Results.Text("Hello world!"));
try
{
    await app.StartAsync();
}
catch (IOException exception)
{
    Console.Error.WriteLine(exception.Message);
    return 1;
}
// The address with the port that the kernel chose, without `http://`.
string address = app.Urls.Single().Split("//")[1];
Console.WriteLine($"listening {address}");
await app.WaitForShutdownAsync();
return 0;

static int Refuse(string message)
{
    Console.Error.WriteLine(message);
    return 2;
}
