(* Cohttp on Lwt: one light-weight thread per connection, on one event loop.

   There is no router: every path gets the same reply. *)

open Lwt.Infix
module Server = Cohttp_lwt_unix.Server

let headers = Cohttp.Header.of_list [ ("Content-Type", "text/plain") ]

let hello _connection _request _body =
  Server.respond_string ~headers ~status:`OK ~body:"Hello world!" ()

let refuse message =
  prerr_endline message;
  exit 2

let address host port =
  match Unix.inet_addr_of_string host with
  | exception Failure _ -> refuse ("not an address: " ^ host)
  | ip -> Unix.ADDR_INET (ip, port)

let shown socket =
  match Unix.getsockname socket with
  | Unix.ADDR_INET (ip, port) ->
      let host = Unix.string_of_inet_addr ip in
      let host = if String.contains host ':' then "[" ^ host ^ "]" else host in
      Printf.sprintf "%s:%d" host port
  | Unix.ADDR_UNIX path -> path

let serve host port =
  let address = address host port in
  let socket = Lwt_unix.socket (Unix.domain_of_sockaddr address) Unix.SOCK_STREAM 0 in
  Lwt_unix.setsockopt socket Unix.SO_REUSEADDR true;
  (* Accepted sockets inherit it. *)
  Lwt_unix.setsockopt socket Unix.TCP_NODELAY true;
  Lwt_unix.bind socket address >>= fun () ->
  Lwt_unix.listen socket 4096;
  Printf.printf "listening %s\n%!" (shown (Lwt_unix.unix_file_descr socket));
  (* A connection that breaks concerns no other one. *)
  Server.create ~on_exn:ignore ~mode:(`TCP (`Socket socket)) (Server.make ~callback:hello ())

let () =
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  match Array.to_list Sys.argv with
  | _ :: "hello" :: host :: port :: workers :: _ -> (
      match (int_of_string_opt port, int_of_string_opt workers) with
      | Some port, Some 1 when port >= 0 && port < 65536 -> Lwt_main.run (serve host port)
      | Some _, Some 1 -> refuse ("not a port: " ^ port)
      | _ -> refuse "WORKERS must be 1: there is one event loop")
  | _ -> refuse "usage: server hello HOST PORT 1 [TIMEOUT_MS]"
