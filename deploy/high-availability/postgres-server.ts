/** One of the two PostgreSQL servers: created, started as the primary or as its standby, promoted, rewound or rebuilt. */
import { execFile } from 'node:child_process'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOwnFolder, otherServer, recipe } from './settings.ts'
import type { HaSettings, ServerName } from './settings.ts'
import type { SupervisedProcess, Supervisor } from './supervisor.ts'

export interface PostgresServer {
  readonly name: ServerName
  readonly port: number
  readonly process: SupervisedProcess
  readonly exists: boolean
  /** Creates an empty server, the first primary. */
  initialize(): Promise<void>
  /** Replaces its data by a copy of the primary. */
  copyFrom(primary: PostgresServer): Promise<void>
  /** Makes the data of a former primary those of a standby: removes what the new primary never received. Returns what pg_rewind says. */
  rewindTo(primary: PostgresServer): Promise<string>
  start(role: 'primary' | 'standby'): Promise<void>
  /** `fast` lets the standby receive everything first; a server that does not end is crashed. */
  stop(): Promise<void>
  promote(): Promise<void>
  /** Rows as psql prints them, `|` between columns. */
  query(sql: string, database?: string): Promise<string>
}

export function createPostgresServer(settings: HaSettings, supervisor: Supervisor, name: ServerName): PostgresServer {
  const { data, programs, ports, secrets } = settings
  const user = settings.users.postgres
  const folder = join(data, 'postgres', name)
  /** Becomes `folder` when it is complete: a half-made server must not be started. */
  const draft = `${folder}.new`
  const sockets = join(data, 'run/postgres')
  const port = ports.servers[name]
  const passfile = join(sockets, 'replicator.pgpass')
  const process = supervisor.create(name, { command: [] })

  const run = (program: string, args: readonly string[], input = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { ...user, cwd: sockets, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', PGPASSFILE: passfile } }
      const child = execFile(join(programs.postgresBin, program), args, options, (error, stdout, stderr) => {
        // pg_rewind reports on stderr, psql answers on stdout.
        if (error === null) resolve((stdout || stderr).trim())
        else reject(new Error(`${program} of ${name}: ${stderr.trim() || error.message}`))
      })
      child.stdin?.on('error', () => {}).end(input)
    })

  /** Without what an interrupted run left there. */
  function createDraft(): void {
    rmSync(draft, { recursive: true, force: true })
    createOwnFolder(draft, user)
  }

  /** In a folder that only the server's user can open. */
  function writeOwn(file: string, text: string): void {
    writeFileSync(file, text, { mode: 0o600 })
    if (user !== undefined) chownSync(file, user.uid, user.gid)
  }

  function copySettings(): void {
    createOwnFolder(join(folder, 'conf.d'), user)
    // As files of the server's user: pg_rewind replaces them.
    writeOwn(join(folder, 'conf.d/parley.conf'), readFileSync(join(recipe, 'postgresql.conf'), 'utf8'))
    writeOwn(join(folder, 'pg_hba.conf'), readFileSync(join(recipe, 'pg_hba.conf'), 'utf8'))
  }

  function commandFor(role: 'primary' | 'standby'): readonly string[] {
    const source = `host=127.0.0.1 port=${ports.servers[otherServer(name)]} user=replicator application_name=${name}`
    const options = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: sockets,
      ...(role === 'standby' ? { primary_conninfo: `${source} passfile=${passfile}` } : {}),
    }
    const flags = Object.entries(options).flatMap(([option, value]) => ['-c', `${option}=${value}`])
    return [join(programs.postgresBin, 'postgres'), '-D', folder, ...flags]
  }

  const server: PostgresServer = {
    name,
    port,
    process,
    get exists() {
      return existsSync(join(folder, 'PG_VERSION'))
    },
    async initialize() {
      createDraft()
      const auth = ['--auth-local=trust', '--auth-host=scram-sha-256']
      await run('initdb', ['-D', draft, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--data-checksums', ...auth])
      await appendFile(join(draft, 'postgresql.conf'), "include_dir = 'conf.d'\n")
      renameSync(draft, folder)
    },
    async copyFrom(primary) {
      rmSync(folder, { recursive: true, force: true })
      createDraft()
      const source = `host=127.0.0.1 port=${primary.port} user=replicator passfile=${passfile}`
      await run('pg_basebackup', ['-d', source, '-D', draft, '--wal-method=stream', '--checkpoint=fast'])
      renameSync(draft, folder)
    },
    async rewindTo(primary) {
      // pg_rewind compares the timelines of the last checkpoints, and a promotion makes none.
      await primary.query('CHECKPOINT')
      const source = `host=${sockets} port=${primary.port} user=postgres dbname=postgres`
      return run('pg_rewind', ['--target-pgdata', folder, '--source-server', source])
    },
    async start(role) {
      copySettings()
      writeOwn(passfile, `*:*:*:replicator:${secrets.replicationPassword}\n`)
      if (role === 'standby') writeOwn(join(folder, 'standby.signal'), '')
      process.start({ command: commandFor(role), env: { LC_ALL: 'C' }, user })
      await waitUntilReady()
    },
    async stop() {
      await process.stop(['SIGINT', 20], ['SIGQUIT', 10])
    },
    async promote() {
      await server.query("ALTER SYSTEM SET synchronous_standby_names = ''")
      await server.query('SELECT pg_reload_conf()')
      await server.query('SELECT pg_promote(true, 60)')
    },
    query: (sql, database = 'postgres') =>
      run(
        'psql',
        ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', sockets, '-p', String(port), '-U', 'postgres', '-d', database],
        sql,
      ),
  }
  return server

  async function waitUntilReady(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        await server.query('SELECT 1')
        return
      } catch (error) {
        if (tries === 600) throw error
        await sleep(100)
      }
    }
  }
}
