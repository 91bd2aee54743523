%% MochiWeb: a process of the virtual machine per connection.
%%
%% There is no router: every path gets the same reply.
-module(server).
-export([start/0]).

-define(CONNECTIONS_MAX, 100000).

start() ->
    spawn(fun() -> run(init:get_plain_arguments()) end).

run(["hello", Host, Port | _]) -> serve(inet:parse_address(Host), string:to_integer(Port));
run(_) -> refuse("usage: hello HOST PORT WORKERS [TIMEOUT_MS]").

serve({ok, Address}, {Port, ""}) when Port >= 0, Port < 65536 ->
    %% An orderly stop would wait for the processes.
    ok = os:set_signal(sigterm, default),
    %% Errors of single connections are logged to standard output by default.
    ok = logger:remove_handler(default),
    Options = [{name, hello}, {ip, Address}, {port, Port}, {loop, fun hello/1}, {nodelay, true},
               {backlog, 4096}, {max, ?CONNECTIONS_MAX}],
    {ok, Server} = mochiweb_http:start(Options),
    Chosen = integer_to_list(mochiweb_socket_server:get(Server, port)),
    io:put_chars(["listening ", shown(Address), ":", Chosen, "\n"]),
    %% The server ends with the process that started it.
    receive after infinity -> ok end;
serve(_, _) ->
    refuse("HOST must be an address, and PORT a number below 65536").

hello(Request) ->
    mochiweb_request:respond({200, [{"Content-Type", "text/plain"}], <<"Hello world!">>}, Request).

shown(Address) when tuple_size(Address) =:= 8 -> ["[", inet:ntoa(Address), "]"];
shown(Address) -> inet:ntoa(Address).

refuse(Message) ->
    io:put_chars(standard_error, [Message, "\n"]),
    halt(2).
