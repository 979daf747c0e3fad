/** All processes of the recipe: two PostgreSQL servers, HAProxy, three hubs. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from './database.ts'
import type { DatabaseState } from './database.ts'
import { otherServer, recipe } from './settings.ts'
import type { HaSettings } from './settings.ts'
import { createSupervisor, stopLeftovers } from './supervisor.ts'
import type { SupervisedProcess } from './supervisor.ts'

export interface HaStatus {
  readonly url: string
  readonly hubs: readonly { readonly url: string; readonly grpcPort: number }[]
  readonly database: DatabaseState & { readonly routePort: number }
  readonly processes: readonly { readonly name: string; readonly pid?: number; readonly restarts: number }[]
}

export interface HaDeployment {
  /** Resolves when all hubs are ready. */
  start(): Promise<void>
  stop(): Promise<void>
  failover(isForced: boolean): Promise<string>
  rejoin(): Promise<string>
  status(): HaStatus
}

export function createDeployment(settings: HaSettings, report: (line: string) => void): HaDeployment {
  const { data, ports, secrets } = settings
  const supervisor = createSupervisor(data, report)
  const database = createDatabase(settings, supervisor, report)
  const url = `http://127.0.0.1:${ports.clients}`

  const hubs = ports.hubs.map(({ http, grpc }, index) => {
    const name = `hub${index + 1}`
    mkdirSync(join(data, name), { recursive: true, mode: 0o700 })
    return supervisor.create(name, {
      command: [...settings.hub, 'up', '-c', settings.config],
      env: {
        HOME: join(data, name),
        PORT: String(http),
        GRPC_PORT: String(grpc),
        PARLEY_REPLICA: name,
        PARLEY_DATA: join(data, name),
        PARLEY_PUBLIC_URL: url,
        PARLEY_GRPC_URL: `127.0.0.1:${ports.clients}`,
        PARLEY_STORE: `postgres://parley:${secrets.hubPassword}@127.0.0.1:${ports.database}/parley`,
        PARLEY_MASTER_KEY: secrets.masterKey,
        PARLEY_ADMIN_KEY: secrets.adminKey,
      },
    })
  })

  const at = (port: number): string => `127.0.0.1:${port}`
  const proxy = supervisor.create('haproxy', {
    command: [settings.programs.haproxy, '-db', '-f', join(recipe, 'haproxy.cfg')],
    user: settings.users.haproxy,
    env: {
      PARLEY_RUN: join(data, 'run/haproxy'),
      PARLEY_BIND: at(ports.clients),
      PARLEY_POSTGRES_BIND: at(ports.database),
      PARLEY_PG1: at(ports.servers.pg1),
      PARLEY_PG2: at(ports.servers.pg2),
      ...Object.fromEntries(
        ports.hubs.flatMap(({ http, grpc }, index) => [
          [`PARLEY_HUB${index + 1}`, at(http)],
          [`PARLEY_HUB${index + 1}_GRPC`, at(grpc)],
        ]),
      ),
    },
  })

  const processes: readonly SupervisedProcess[] = [
    ...Object.values(database.servers).map(({ process }) => process),
    proxy,
    ...hubs,
  ]

  return {
    async start() {
      await stopLeftovers(data, report)
      report('starting PostgreSQL')
      await database.start()
      report('starting HAProxy and the hubs')
      proxy.start()
      for (const hub of hubs) hub.start()
      await Promise.all(ports.hubs.map(({ http }) => waitUntilReady(`http://127.0.0.1:${http}`)))
      await waitUntilReady(url)
    },
    async stop() {
      // A hub ends after 30 s in any case.
      await Promise.all(hubs.map((hub) => hub.stop(['SIGTERM', 35])))
      await proxy.stop(['SIGTERM', 5])
      await database.stop()
    },
    failover: (isForced) => database.failover(isForced),
    rejoin: () => database.rejoin(),
    status: () => ({
      url,
      hubs: ports.hubs.map(({ http, grpc }) => ({ url: `http://127.0.0.1:${http}`, grpcPort: grpc })),
      database: { ...database.state, routePort: ports.database },
      processes: processes.map(({ name, pid, restarts }) => ({
        name,
        ...(pid === undefined ? {} : { pid }),
        restarts,
      })),
    }),
  }
}

async function waitUntilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await sleep(100)
  }
  throw new Error(`${url} did not become ready in two minutes: see the logs`)
}

/** What `start` and `status` print. */
export function describeStatus({ url, hubs, database, processes }: HaStatus, data: string): string {
  const stateOf = (name: string): string => {
    const found = processes.find((one) => one.name === name)
    if (found?.pid === undefined) return 'stopped'
    return found.restarts === 0 ? `process ${found.pid}` : `process ${found.pid}, started again ${found.restarts} times`
  }
  const standby = otherServer(database.primary)
  const replication = database.isSynchronous
    ? 'synchronous standby'
    : `former primary, out of date: run \`npm run ha -- rejoin\``
  return [
    `clients     ${url} (HTTP and gRPC)`,
    `haproxy     ${stateOf('haproxy')}`,
    ...hubs.map((hub, index) => `hub${index + 1}        ${hub.url}, ${stateOf(`hub${index + 1}`)}`),
    `${database.primary}         primary, ${stateOf(database.primary)}`,
    `${standby}         ${replication}, ${stateOf(standby)}`,
    `database    127.0.0.1:${database.routePort} routes to the primary`,
    `data        ${data} (logs, and the admin key in secrets.json)`,
  ].join('\n')
}
