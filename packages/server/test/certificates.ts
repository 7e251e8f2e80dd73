/** Certificates for engines that speak TLS, made by openssl for one test. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresUser } from '../src/engines/binaries.ts'
import type { TlsFiles } from '../src/engines/brokers.ts'

export interface Authority {
  /** The PEM file of its own certificate. */
  file: string
  /** Signs a certificate for these names, such as `DNS:db.example.org` or `IP:127.0.0.1`. */
  sign(...names: string[]): TlsFiles
  remove(): void
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export function newAuthority(): Authority {
  const dir = mkdtempSync(join(tmpdir(), 'loquat-ca-'))
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(dir, 0o755)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })
  const ca = ['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test authority', '-days', '2']
  openssl('req', '-x509', ...NEW_KEY, ...ca)
  let signed = 0
  return {
    file: join(dir, 'ca.pem'),
    sign(...names) {
      const name = `server-${++signed}`
      const files = { cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) }
      openssl('req', ...NEW_KEY, '-keyout', files.key, '-out', `${name}.csr`, '-subj', '/CN=server')
      writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${names.join(',')}`)
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
      const details = ['-in', `${name}.csr`, '-out', files.cert, '-extfile', `${name}.ext`]
      openssl('x509', '-req', ...by, ...details)
      const owner = postgresUser()
      if (owner) chownSync(files.key, owner.uid, owner.gid)
      return files
    },
    remove: () => rmSync(dir, { recursive: true }),
  }
}
