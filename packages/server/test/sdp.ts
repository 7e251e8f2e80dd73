/** Descriptions of a device that only sends or receives audio, for tests in which nothing has to arrive. */
const lines = (...of: string[]) => `${of.join('\r\n')}\r\n`

const description = (direction: 'sendonly' | 'recvonly', setup: 'actpass' | 'active') =>
  lines(
    ...['v=0', 'o=- 4611731400430051336 2 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0'],
    ...['m=audio 9 UDP/TLS/RTP/SAVPF 96', 'c=IN IP4 0.0.0.0', 'a=rtcp:9 IN IP4 0.0.0.0'],
    ...['a=candidate:1 1 udp 2122260223 127.0.0.1 9 typ host', 'a=end-of-candidates'],
    ...['a=ice-ufrag:abcd', 'a=ice-pwd:abcdefghijklmnopqrstuv'],
    `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
    ...[`a=setup:${setup}`, 'a=mid:0', `a=${direction}`, 'a=rtcp-mux'],
    ...['a=rtpmap:96 opus/48000/2', 'a=ssrc:1234567 cname:test'],
  )

export const OFFER = description('sendonly', 'actpass')
export const ANSWER = description('recvonly', 'active')
