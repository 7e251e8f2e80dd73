import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { UserError } from '../platform/errors.ts'

/** Folders with programs that may not be on the PATH. */
export interface SystemFolders {
  programs: string[]
  /** Debian and Homebrew keep PostgreSQL's server programs in one folder per version. */
  postgresVersions: string[]
}

const SYSTEM_FOLDERS: SystemFolders = {
  programs: ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
  postgresVersions: ['/usr/lib/postgresql', '/opt/homebrew/opt'],
}

/** Newest version first. */
function postgresFolders(parent: string): string[] {
  try {
    return readdirSync(parent)
      .filter((name) => /^(postgresql@)?\d+$/.test(name))
      .sort((a, b) => Number(b.replace(/\D/g, '')) - Number(a.replace(/\D/g, '')))
      .map((name) => join(parent, name, 'bin'))
  } catch {
    return []
  }
}

function find(name: string, folders: string[]): string | undefined {
  for (const folder of folders) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  return undefined
}

export interface Binaries {
  initdb: string
  postgres: string
  natsServer: string
  redisServer: string
}

/** Finds the engines' programs, or says how to install the missing ones. */
export function findBinaries(searchPath: string, system = SYSTEM_FOLDERS): Binaries {
  const common = [...searchPath.split(delimiter).filter(Boolean), ...system.programs]
  const postgres = [...system.postgresVersions.flatMap(postgresFolders), ...common]
  const found = {
    initdb: find('initdb', postgres),
    postgres: find('postgres', postgres),
    natsServer: find('nats-server', common),
    redisServer: find('redis-server', common) ?? find('valkey-server', common),
  }
  const missing = [
    !(found.initdb && found.postgres) && { name: 'PostgreSQL (15 or newer)', apt: 'postgresql' },
    !found.natsServer && { name: 'NATS server', apt: 'nats-server' },
    !found.redisServer && { name: 'Redis or Valkey', apt: 'redis-server' },
  ].filter((entry) => entry !== false)
  if (missing.length > 0) {
    throw new UserError(
      [
        `Missing on this machine: ${missing.map((entry) => entry.name).join(', ')}.`,
        `  Debian, Ubuntu:  sudo apt-get install ${missing.map((entry) => entry.apt).join(' ')}`,
        '  macOS:           brew install postgresql@17 nats-server redis',
        'To use engines that run elsewhere, set LOQUAT_DIRECTORY_URL, LOQUAT_NATS_URL, LOQUAT_REDIS_URL',
        'and LOQUAT_SECRET (docs/config.md), then run loquat migrate and loquat serve.',
      ].join('\n'),
    )
  }
  return found as Binaries
}

export interface SystemUser {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root. Debian's package creates the user `postgres` for it. */
export function postgresUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    throw new UserError(
      'PostgreSQL refuses to run as root, and this machine has no user "postgres".\n' +
        'Run this command as a normal user, or create that user: useradd --system postgres',
    )
  }
}
