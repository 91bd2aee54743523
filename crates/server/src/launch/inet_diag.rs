//! Listening sockets as the kernel's `inet_diag` tells them (sock_diag(7)). `/proc/net/tcp` has them too, but whoever
//! reads it has the kernel look at every slot of the table of connections, which are hundreds of thousands.

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// Values of linux/netlink.h, linux/sock_diag.h and net/tcp_states.h.
const DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const TCP: u8 = 6;
const LISTEN: u32 = 1 << 10;
/// Lengths of `nlmsghdr` and of `inet_diag_req_v2`.
const HEAD_BYTES: usize = 16;
const REQUEST_BYTES: usize = 56;
/// The kernel fills at most this for one read.
const BUFFER_BYTES: usize = 32 * 1024;

/// The addresses and inodes of all sockets that listen for TCP.
pub(super) fn listening() -> io::Result<Vec<(SocketAddr, u64)>> {
    let mut all = dump(AddressFamily::INET)?;
    all.extend(dump(AddressFamily::INET6)?);
    Ok(all)
}

fn dump(family: AddressFamily) -> io::Result<Vec<(SocketAddr, u64)>> {
    let flags = SocketFlags::CLOEXEC;
    let kind = Some(netlink::SOCK_DIAG);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, kind)?;
    send(&socket, &request(family), SendFlags::empty())?;
    let (mut all, mut buffer) = (Vec::new(), vec![0; BUFFER_BYTES]);
    loop {
        // The answer is there once the request is sent; without one the tables are read.
        let (_, length) = recv(&socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        if add(&mut all, &buffer[..length]).ok_or(io::ErrorKind::InvalidData)?? {
            return Ok(all);
        }
    }
}

fn request(family: AddressFamily) -> Vec<u8> {
    let length = (HEAD_BYTES + REQUEST_BYTES) as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.resize(HEAD_BYTES, 0);
    bytes.extend([family.as_raw() as u8, TCP, 0, 0]);
    bytes.extend(LISTEN.to_ne_bytes());
    bytes.resize(length as usize, 0);
    bytes
}

/// Adds the sockets in `messages`, and tells whether they are the last ones. Nothing if a message is cut off.
fn add(all: &mut Vec<(SocketAddr, u64)>, mut messages: &[u8]) -> Option<io::Result<bool>> {
    while !messages.is_empty() {
        let length = u32::from_ne_bytes(messages.get(..4)?.try_into().ok()?) as usize;
        let message = messages.get(HEAD_BYTES..length)?;
        match u16::from_ne_bytes(messages.get(4..6)?.try_into().ok()?) {
            SOCK_DIAG_BY_FAMILY => all.push(socket(message)?),
            kind => {
                // The end has a number too, which is negative if the kernel has no `tcp_diag`.
                let number = i32::from_ne_bytes(message.get(..4)?.try_into().ok()?);
                let is_end = kind == DONE && number >= 0;
                let error = || io::Error::from_raw_os_error(number.saturating_neg());
                return Some(is_end.then_some(true).ok_or_else(error));
            }
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(Ok(false))
}

/// The address and the inode in an `inet_diag_msg`.
fn socket(message: &[u8]) -> Option<(SocketAddr, u64)> {
    let port = u16::from_be_bytes(message.get(4..6)?.try_into().ok()?);
    let bytes: [u8; 16] = message.get(8..24)?.try_into().ok()?;
    let is_v4 = u16::from(*message.first()?) == AddressFamily::INET.as_raw();
    let ip = match is_v4 {
        true => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
        false => IpAddr::V6(Ipv6Addr::from(bytes)),
    };
    let inode = u32::from_ne_bytes(message.get(68..72)?.try_into().ok()?);
    Some((SocketAddr::new(ip, port), u64::from(inode)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_all_sockets_or_with_an_error() {
        let message = |kind: u16, number: i32| {
            let head =
                [20_u32.to_ne_bytes(), [kind.to_ne_bytes(), [0, 0]].concat().try_into().unwrap()];
            [head.concat(), vec![0; 8], number.to_ne_bytes().to_vec()].concat()
        };
        let ended = |bytes: &[u8]| add(&mut Vec::new(), bytes).map(|it| it.map_err(|it| it.kind()));
        assert_eq!(ended(&[]), Some(Ok(false)));
        assert_eq!(ended(&message(DONE, 0)), Some(Ok(true)));
        for kind in [DONE, 2] {
            assert_eq!(ended(&message(kind, -2)), Some(Err(io::ErrorKind::NotFound)), "{kind}");
        }
        assert_eq!(ended(&message(SOCK_DIAG_BY_FAMILY, 0)), None);
        assert_eq!(ended(&message(DONE, 0)[..18]), None);
    }
}
