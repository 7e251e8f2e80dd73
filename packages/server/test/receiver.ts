/** A real HTTPS server that webhooks call, with a certificate that this process trusts. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** A call of a webhook. */
export interface Received {
  path: string
  /** The header `webhook-id`. */
  id: string
  headers: Record<string, string>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of many shapes
  json: any
  /** Whether it was answered with success. */
  taken: boolean
}

/** The status to answer with; 0 closes the connection instead, null never answers. */
export type Respond = (call: Received) => number | null

export interface Receiver {
  url: string
  /** The certificate's file, for other processes: NODE_EXTRA_CA_CERTS. */
  caFile: string
  received: Received[]
  /** Can be replaced. */
  respond: Respond
}

const dir = mkdtempSync(join(tmpdir(), 'loquat-receiver-'))
after(() => rmSync(dir, { recursive: true, force: true }))

function makeCertificate() {
  const [keyFile, caFile] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', keyFile, '-out', caFile, '-days', '2', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'pipe' },
  )
  return { caFile, key: readFileSync(keyFile), cert: readFileSync(caFile, 'utf8') }
}

let certificate: ReturnType<typeof makeCertificate> | undefined

/** The certificate of servers on this machine, which this process trusts. It ends with the test file. */
export function trustedCertificate() {
  if (!certificate) {
    certificate = makeCertificate()
    setDefaultCACertificates([...getCACertificates('default'), certificate.cert])
  }
  return certificate
}

/** Starts a receiver that ends with the test file. Call it at the top level of the file. */
export function useReceiver(respond: Respond = () => 200): Receiver {
  const { key, cert, caFile } = trustedCertificate()
  const receiver: Receiver = { url: '', caFile, received: [], respond }
  const server = createServer({ key, cert }, (request, response) => {
    void take(receiver, request, response)
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    receiver.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return receiver
}

async function take(receiver: Receiver, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  try {
    for await (const chunk of request.setEncoding('utf8')) body += chunk
  } catch {
    return
  }
  const headers = request.headers as Record<string, string>
  const id = headers['webhook-id'] ?? ''
  const path = request.url ?? ''
  const call = { path, id, headers, body, json: JSON.parse(body), taken: false }
  const status = receiver.respond(call)
  call.taken = status !== null && status >= 200 && status <= 299
  receiver.received.push(call)
  if (status === 0) request.socket.destroy()
  else if (status !== null) {
    // A redirect that must not be followed.
    response.writeHead(status, status === 302 ? { location: `${receiver.url}/followed` } : {})
    response.end(`status ${status}`)
  }
}

/** Calls that were answered with success, each id once, in the order of the first. */
export function taken(receiver: Receiver, path?: string): Received[] {
  const first = new Map<string, Received>()
  for (const call of receiver.received) {
    if (!call.taken || (path !== undefined && call.path !== path)) continue
    if (!first.has(call.id)) first.set(call.id, call)
  }
  return [...first.values()]
}
