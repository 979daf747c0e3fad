/** nginx and Caddy with the configurations of deploy/, in the foreground and in a folder of their own. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOrInstall } from '../project-imports.ts'
import { substitute } from './substitute.ts'

export interface ProxyPlace {
  /** Has fullchain.pem and privkey.pem. */
  readonly folder: string
  readonly host: string
  readonly httpsPort: number
  readonly httpPort: number
  readonly adminPort: number
}

/** The addresses of the hubs, as host:port; three of each for replicas. */
export interface Upstreams {
  readonly http: readonly string[]
  readonly grpc: readonly string[]
}

export interface ProxySoftware {
  readonly name: 'nginx' | 'caddy'
  /** Writes its files for these hubs and tests them; returns the command and its environment. */
  prepare(program: string, place: ProxyPlace, upstreams: Upstreams): PreparedProxy
}

interface PreparedProxy {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Loads the files again without an interruption. */
  reload(): void
  /** Logged once for each of these processes when it has stopped accepting connections; without it, when `reload` returns. */
  readonly replaced?: { readonly line: RegExp; readonly processes: number }
}

export interface RunningProxy {
  readonly lines: readonly string[]
  waitForLine(pattern: RegExp, from?: number): Promise<void>
  /** Resolves when every new connection gets the new configuration. */
  reload(upstreams: Upstreams): Promise<void>
  /** SIGKILL to all its processes. */
  kill(): Promise<void>
}

/** Where the program is, or why it cannot run here. */
export async function findProxy(name: 'nginx' | 'caddy' | 'haproxy'): Promise<{ program: string } | { skip: string }> {
  const place = await findOrInstall(name)
  return place === undefined ? { skip: `${name} is not installed` } : { program: join(place, name) }
}

/** Kills its group when the program ends, and when the test ends, however that ends: its standard input is a pipe from the test. */
const guard = '("$@"; kill -KILL 0) & cat >/dev/null; kill -KILL 0'

export async function startProxy(
  { prepare }: ProxySoftware,
  program: string,
  place: ProxyPlace,
  upstreams: Upstreams,
): Promise<RunningProxy> {
  const prepared = prepare(program, place, upstreams)
  const child = spawn('/bin/sh', ['-c', guard, 'sh', ...prepared.command], {
    cwd: place.folder,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], ...prepared.env },
    // The workers of nginx outlive their master: the whole group is killed.
    detached: true,
  })
  after(() => killGroup(child))
  const lines: string[] = []
  const waiting = new Set<() => void>()
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lines.push(...text.split('\n').filter((line) => line !== ''))
    for (const look of waiting) look()
  })
  while (!(await accepts(place.httpsPort))) {
    assert.ok(child.exitCode === null && child.signalCode === null, lines.join('\n'))
    await sleep(25)
  }
  async function waitForLines(pattern: RegExp, from: number, count: number): Promise<void> {
    const found = Promise.withResolvers<void>()
    const look = (): void => {
      if (lines.slice(from).filter((line) => pattern.test(line)).length >= count) found.resolve()
    }
    waiting.add(look)
    look()
    await found.promise.finally(() => waiting.delete(look))
  }
  return {
    lines,
    waitForLine: (pattern, from = 0) => waitForLines(pattern, from, 1),
    async reload(next) {
      const from = lines.length
      const { reload, replaced } = prepare(program, place, next)
      reload()
      if (replaced !== undefined) await waitForLines(replaced.line, from, replaced.processes)
    },
    async kill() {
      const closed = once(child, 'exit')
      killGroup(child)
      await closed
    },
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL')
  } catch {
    // It has already exited.
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const workers = 2

export const nginx: ProxySoftware = {
  name: 'nginx',
  prepare(program, { folder, host, httpsPort, httpPort }, { http, grpc }) {
    mkdirSync(join(folder, 'conf.d'), { recursive: true })
    // Its workers have a user of their own and write large requests to this folder.
    chmodSync(folder, 0o755)
    const site = substitute('nginx/parley.conf', [
      ['hub.example.com', host],
      ['listen 443', `listen ${httpsPort}`],
      ['listen 80', `listen ${httpPort}`],
      ['/etc/letsencrypt/live/hub.example.com', folder],
    ])
    const upstream =
      http.length === 1
        ? substitute('nginx/parley-upstream.conf', [
            ['127.0.0.1:3000', http[0] as string],
            ['127.0.0.1:3001', grpc[0] as string],
          ])
        : substitute('nginx/parley-upstream-replicas.conf', [
            ...http.map((address, index) => [`10.0.0.1${index + 1}:3000`, address] as const),
            ...grpc.map((address, index) => [`10.0.0.1${index + 1}:3001`, address] as const),
          ])
    writeFileSync(join(folder, 'conf.d/parley.conf'), site)
    writeFileSync(join(folder, 'conf.d/parley-upstream.conf'), upstream)
    // What Debian has in nginx.conf, with the paths of a process that is not installed.
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const main = `daemon off; worker_processes ${workers}; pid ${folder}/nginx.pid; error_log stderr notice;
events {}
http { access_log off; gzip on; ${paths.join(' ')} include ${folder}/conf.d/*.conf; }`
    writeFileSync(join(folder, 'nginx.conf'), main)
    const command = [program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
    execFileSync(program, [...command.slice(1), '-t'], { stdio: 'pipe' })
    return {
      command,
      env: {},
      reload: () => void execFileSync(program, [...command.slice(1), '-s', 'reload'], { stdio: 'pipe' }),
      // The command only sends a signal. Until a worker has it, it accepts connections, and then closes those over HTTP/2 that
      // have no request yet: a client sees an error without an answer, and connects again.
      replaced: { line: /gracefully shutting down/, processes: workers },
    }
  },
}

export const caddy: ProxySoftware = {
  name: 'caddy',
  prepare(program, { folder, host, httpsPort, httpPort, adminPort }, { http, grpc }) {
    const site = substitute('Caddyfile', [
      [
        '# tls /etc/ssl/hub.example.com/fullchain.pem /etc/ssl/hub.example.com/privkey.pem',
        `tls ${folder}/fullchain.pem ${folder}/privkey.pem`,
      ],
    ])
    const config = join(folder, 'Caddyfile')
    writeFileSync(config, site)
    const env = {
      HOME: folder,
      PARLEY_SITE: host,
      CADDY_ADMIN: `127.0.0.1:${adminPort}`,
      CADDY_HTTP_PORT: String(httpPort),
      CADDY_HTTPS_PORT: String(httpsPort),
      PARLEY_UPSTREAMS: http.join(' '),
      PARLEY_GRPC_UPSTREAMS: grpc.join(' '),
    }
    const run = (command: string, ...args: readonly string[]): unknown =>
      execFileSync(program, [command, '--config', config, ...args], { stdio: 'pipe', env })
    run('validate')
    return {
      command: [program, 'run', '--config', config],
      env,
      reload: () => void run('reload', '--address', env.CADDY_ADMIN, '--force'),
    }
  },
}
