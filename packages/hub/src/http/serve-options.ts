/** Options for the SDK server, derived from the configuration: everything except agents and access. */
import { omitUndefined, type CardSigning, type ServePushOptions } from '@parley/a2a/internal'
import { isIP } from 'node:net'
import { cursor, timestamps, trace, ConfigError } from '@parley/a2a/server'
import { guardedWebhooks, type ServeOptions, type Server } from '@parley/a2a/node'
import type { HubConfig } from '../config/hub-config.ts'
import { sharedGrpcPort } from '../config/sections/listen.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export type HubServeOptions = Pick<
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
  | 'strict'
  | 'limits'
  | 'idempotency'
  | 'signing'
  | 'extensions'
> & { readonly push?: ServePushOptions }

export function serveOptionsFrom(config: HubConfig, hasAnonymousAgents: boolean): HubServeOptions {
  const { listen, publicUrl, grpcUrl, trustProxy, strict, cors, idempotency } = config
  const tls = readTls(config)
  const hosts = hasAnonymousAgents && isLoopback(listen.host) && !trustProxy ? loopbackHosts(publicUrl) : undefined
  const push = pushOf(config)
  const grpcPort = sharedGrpcPort(listen)
  const signing = signingOf(config)
  return {
    host: listen.host,
    port: listen.port,
    ...(grpcPort === false ? {} : { grpcPort }),
    ...(tls !== undefined ? { tls: { ...tls, hstsSeconds: hstsOf(config) } } : {}),
    ...omitUndefined({ publicUrl, grpcUrl }),
    trustProxy,
    strict,
    ...omitUndefined({ cors, hosts }),
    limits: limitsOf(config),
    idempotency: { windowMs: idempotency.window },
    ...omitUndefined({ push, signing }),
    extensions: [cursor(), timestamps(), trace()],
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Without authentication, a page of another site must not reach the hub through a host name of its own (DNS rebinding). */
function loopbackHosts(publicUrl: string | undefined): readonly string[] {
  const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return ['localhost', '127.0.0.1', '[::1]', ...publicHosts]
}

/** Read again on each call, because certificates are renewed. */
function readTls({ listen: { tls }, baseDir }: Pick<HubConfig, 'listen' | 'baseDir'>) {
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
  return omitUndefined({
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

/** Notifications are signed if there is a public URL to sign for. */
function pushOf({ push, publicUrl }: HubConfig): ServePushOptions | undefined {
  if (push === false) return undefined
  const { schedule: scheduleMs, timeout: timeoutMs, jwt, ...same } = push === true ? {} : push
  const signs = jwt ?? publicUrl !== undefined
  return { ...omitUndefined({ scheduleMs, timeoutMs, ...same }), ...(signs ? { jwt: true } : {}) }
}

/**
 * A hub without a configuration file may call webhooks on this machine while it listens on loopback, where all its callers are. That
 * is decided for each webhook and each delivery, because a file can be loaded later.
 */
export function withLocalWebhooks(push: ServePushOptions, current: () => HubConfig): ServePushOptions {
  const [guard, localGuard] = [guardedWebhooks(push), guardedWebhooks({ ...push, allowLoopback: true })]
  const select = (): typeof guard => {
    const { file, listen } = current()
    return file === undefined && isLoopback(listen.host) ? localGuard : guard
  }
  return {
    ...push,
    // The guard of the server must not refuse what the selected one permits.
    allowLoopback: true,
    fetch: (request) => select().fetch(request),
    validateUrl: (url) => select().validateUrl(url),
  }
}

function signingOf({ signing, publicUrl, baseDir }: HubConfig): boolean | CardSigning | undefined {
  if (signing === undefined) return publicUrl === undefined ? undefined : true
  if (typeof signing === 'boolean') return signing
  const { key, previous, rotateAfter: rotateAfterMs, ...same } = signing
  const keys = {
    key: key === undefined ? undefined : readPem(key, baseDir, 'signing.key'),
    previous: previous?.map((one, index) => readPem(one, baseDir, `signing.previous[${index}]`)),
  }
  return omitUndefined({ ...same, ...keys, rotateAfterMs })
}

/** `path` is the configuration path of the setting. */
function readPem(given: string, baseDir: string, path: string): string {
  // A PEM, or a JSON key.
  if (/^\s*(-----BEGIN |\{)/.test(given)) return given.replaceAll('\\n', '\n')
  try {
    return readFileSync(resolve(baseDir, given), 'utf8')
  } catch (reason) {
    const why =
      (reason as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist' : 'the file cannot be read'
    throw new ConfigError(path, `${why}: ${given}`)
  }
}

/** Serves the certificate that the files contain now. */
export function renewTls({ server }: Server, config: HubConfig): void {
  const tls = readTls(config)
  if (tls !== undefined && 'setSecureContext' in server) server.setSecureContext(tls)
}
