/** What the recipe needs to know: where its data, ports, programs and secrets are. */
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface HaOptions {
  readonly data: string
  /** The first of ten ports in a row. */
  readonly port: number
  readonly config: string
  /** The command that starts a hub, without `up`. */
  readonly hub: readonly string[]
}

export interface HaSettings extends HaOptions {
  readonly ports: HaPorts
  readonly secrets: HaSecrets
  readonly programs: { readonly postgresBin: string; readonly haproxy: string }
  readonly users: { readonly postgres: SystemUser | undefined; readonly haproxy: SystemUser | undefined }
}

export interface HaPorts {
  /** For clients: HTTP and gRPC. */
  readonly clients: number
  /** For hubs: routes to the primary. */
  readonly database: number
  readonly servers: Readonly<Record<ServerName, number>>
  readonly hubs: readonly { readonly http: number; readonly grpc: number }[]
}

export type ServerName = 'pg1' | 'pg2'
export const serverNames: readonly ServerName[] = ['pg1', 'pg2']
export const otherServer = (name: ServerName): ServerName => (name === 'pg1' ? 'pg2' : 'pg1')

export interface HaSecrets {
  readonly masterKey: string
  readonly adminKey: string
  readonly hubPassword: string
  readonly replicationPassword: string
}

/** For `spawn`. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

export const recipe = import.meta.dirname
export const controlSocket = (data: string): string => join(data, 'control.sock')

export function portsFrom(first: number): HaPorts {
  return {
    clients: first,
    database: first + 1,
    servers: { pg1: first + 2, pg2: first + 3 },
    hubs: [4, 6, 8].map((offset) => ({ http: first + offset, grpc: first + offset + 1 })),
  }
}

/** Creates the folder with its secrets at the first start. */
export function openSettings(given: HaOptions): HaSettings {
  const data = resolve(given.data)
  // The path of a Unix socket has 107 characters at most.
  const longest = join(data, 'run/postgres/.s.PGSQL.65535')
  if (longest.length > 107) throw new Error(`${data} is too long for the path of a socket: choose a shorter folder`)
  const programs = { postgresBin: findPostgres(), haproxy: findHaproxy() }
  const isRoot = process.getuid?.() === 0
  const users = {
    postgres: isRoot ? findUser('postgres') : undefined,
    haproxy: isRoot ? findUser('haproxy') : undefined,
  }
  mkdirSync(data, { recursive: true, mode: 0o711 })
  // The servers have users of their own: they may enter the folder, and not list it. A folder that exists loses no permission.
  chmodSync(data, (statSync(data).mode & 0o7777) | 0o011)
  for (const folder of ['run', 'logs', 'postgres']) mkdirSync(join(data, folder), { recursive: true, mode: 0o711 })
  for (const user of ['postgres', 'haproxy'] as const) createOwnFolder(join(data, 'run', user), users[user])
  const file = join(data, 'secrets.json')
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(newSecrets(), null, 2)}\n`, { mode: 0o600 })
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as HaSecrets
  return { ...given, data, ports: portsFrom(given.port), secrets, programs, users }
}

export function createOwnFolder(folder: string, user: SystemUser | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
}

function newSecrets(): HaSecrets {
  return {
    masterKey: randomBytes(32).toString('base64'),
    adminKey: randomBytes(24).toString('base64url'),
    hubPassword: randomBytes(24).toString('base64url'),
    replicationPassword: randomBytes(24).toString('base64url'),
  }
}

function findPostgres(): string {
  const byVersion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })
  const installed = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').sort(byVersion).at(-1)
  const found = installed ?? findInPath('pg_basebackup')
  if (found === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  return dirname(found)
}

function findHaproxy(): string {
  const found = existsSync('/usr/sbin/haproxy') ? '/usr/sbin/haproxy' : findInPath('haproxy')
  if (found === undefined) throw new Error('HAProxy is not installed: apt-get install haproxy')
  return found
}

function findInPath(program: string): string | undefined {
  const places = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, program))
  return places.find((file) => existsSync(file))
}

/** PostgreSQL refuses to run as root, and HAProxy needs no rights. */
function findUser(name: string): SystemUser {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const entry = [name, 'nobody'].flatMap((user) => lines.filter((line) => line.startsWith(`${user}:`)))[0]
  const [, , uid, gid] = entry?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error(`there is no user ${name}`)
  return { uid: Number(uid), gid: Number(gid) }
}
