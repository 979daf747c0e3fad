/** What the SDK's server is told of the configuration: everything but the agents and who may call them. */
import { isIP } from 'node:net'
import { cursor, timestamps, trace } from '@parley/a2a/server'
import type { CardSigning } from '@parley/a2a/server'
import type { ServeOptions, ServePushOptions } from '@parley/a2a/node'
import type { HubConfig } from './config/config.ts'
import { defined } from './defined.ts'
import { readPem } from './pem.ts'

export type HouseServeOptions = Pick<
  ServeOptions,
  | 'host'
  | 'port'
  | 'grpcPort'
  | 'tls'
  | 'grpcTls'
  | 'publicUrl'
  | 'grpcUrl'
  | 'trustProxy'
  | 'cors'
  | 'hosts'
  | 'limits'
  | 'retention'
  | 'idempotency'
  | 'push'
  | 'signing'
  | 'extensions'
>

export function houseOptions(config: HubConfig, hasGuests: boolean): HouseServeOptions {
  const { listen, publicUrl, grpcUrl, trustProxy, cors, retention, idempotency } = config
  const tls = tlsOf(config)
  const hosts = hasGuests && isLoopback(listen.host) && !trustProxy ? homeNames(publicUrl) : undefined
  const push = pushOf(config)
  const signing = signingOf(config)
  const { finished: finishedMs, max: maxTasks, log: logMs } = retention
  return {
    host: listen.host,
    port: listen.port,
    ...(listen.grpcPort === false ? {} : { grpcPort: listen.grpcPort }),
    ...(tls !== undefined ? { tls: { ...tls, hstsSeconds: hstsOf(config) } } : {}),
    ...defined({ publicUrl, grpcUrl }),
    trustProxy,
    ...(cors !== undefined ? { cors } : {}),
    ...(hosts !== undefined ? { hosts } : {}),
    limits: limitsOf(config),
    retention: defined({ finishedMs, maxTasks, logMs }),
    idempotency: { windowMs: idempotency.window },
    ...(push !== undefined ? { push } : {}),
    ...(signing !== undefined ? { signing } : {}),
    extensions: [cursor(), timestamps(), trace()],
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Where nobody has to log in, a page elsewhere must not reach us by a name of its own (DNS rebinding). */
function homeNames(publicUrl: string | undefined): readonly string[] {
  const outside = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return ['localhost', '127.0.0.1', '[::1]', ...outside]
}

/** Read anew each time: certificates are renewed. */
export function tlsOf({ listen: { tls }, baseDir }: Pick<HubConfig, 'listen' | 'baseDir'>) {
  if (tls === undefined) return undefined
  return {
    cert: readPem(tls.cert, baseDir, 'listen.tls.cert'),
    key: readPem(tls.key, baseDir, 'listen.tls.key'),
    ...(tls.ca !== undefined ? { ca: readPem(tls.ca, baseDir, 'listen.tls.ca') } : {}),
  }
}

function hstsOf({ listen: { tls } }: HubConfig): number {
  return tls === undefined || tls.hsts === false ? 0 : Math.round(tls.hsts / 1_000)
}

function limitsOf({ limits }: HubConfig): NonNullable<ServeOptions['limits']> {
  const { body: bodyBytes, jsonNodes, parts, tasksPerCaller, streamsPerCaller, wait: waitMs } = limits
  const { unsent: unsentBytes, unsentPerCaller: unsentBytesPerCaller, connections, connectionsPerAddress } = limits
  return defined({
    bodyBytes,
    jsonNodes,
    parts,
    tasksPerCaller,
    streamsPerCaller,
    unsentBytes,
    unsentBytesPerCaller,
    connections,
    connectionsPerAddress,
    waitMs,
  })
}

/** Signed if there is an address to sign for. */
function pushOf({ push, publicUrl }: HubConfig): ServePushOptions | undefined {
  if (push === false) return undefined
  const { schedule: scheduleMs, timeout: timeoutMs, jwt, ...same } = push === true ? {} : push
  const signs = jwt ?? publicUrl !== undefined
  return { ...defined({ scheduleMs, timeoutMs, ...same }), ...(signs ? { jwt: true } : {}) }
}

function signingOf({ signing, publicUrl, baseDir }: HubConfig): boolean | CardSigning | undefined {
  if (signing === undefined) return publicUrl === undefined ? undefined : true
  if (typeof signing === 'boolean') return signing
  const { key, previous, rotateAfter: rotateAfterMs, ...same } = signing
  const keys = {
    key: key === undefined ? undefined : readPem(key, baseDir, 'signing.key'),
    previous: previous?.map((one, index) => readPem(one, baseDir, `signing.previous[${index}]`)),
  }
  return defined({ ...same, ...keys, rotateAfterMs })
}
