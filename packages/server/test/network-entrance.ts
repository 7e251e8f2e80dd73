/** Leads connections to 127.0.0.1:8080 to a socket in the file system, which leaves the network namespace. */
import { connect, createServer } from 'node:net'

const [, , socket = ''] = process.argv
createServer((from) => {
  const to = connect(socket)
  from.pipe(to).pipe(from)
  from.on('error', () => to.destroy())
  to.on('error', () => from.destroy())
}).listen(8080, '127.0.0.1', () => console.log('ready'))
