/** `a2a server`: serves an agent on this machine until Ctrl-C: an echo, a proxy of another agent, or a program. */
import { memoryStore } from '@parley/a2a'
import { isLoopbackHost, type BindingName, isLegacyVersion, newestVersion, versionIds } from '@parley/a2a/internal'
import { serve, type ServeOptions } from '@parley/a2a/node'
import type { EndedCall } from '@parley/a2a/server'
import type { Settings } from '../args/settings.ts'
import type { CommandContext } from '../command.ts'
import { listenError, usageError } from '../output/cli-error.ts'
import { serverMode } from '../server/server-mode.ts'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output } = context
  const host = settings.value('host') ?? '127.0.0.1'
  const bindings = servedBindings(servedNames(settings))
  const grpcPort = bindings.includes('GRPC') ? settings.integer('grpc-port', 0, 65_535) : undefined
  const port = settings.integer('port', 0, 65_535) ?? 8080
  const versions = protocolOptions(context)
  const publicUrl = advertisedUrl(settings.value('advertise-address'))
  const mode = await serverMode(context)
  try {
    const isLocal = isLoopbackHost(host === '::1' ? '[::1]' : host)
    if (!isLocal) output.warn(`${mode.exposure} Everyone who reaches ${host}:${port} can use it.`)
    const server = await serve({
      ...mode.options,
      ...versions,
      // A request without a version is one of 0.3 (§3.6.2): a client that is tried here must work elsewhere too.
      strict: true,
      port,
      host,
      quiet: true,
      store: memoryStore(),
      log: {
        debug: (text) => output.debug(text),
        info: (text) => output.debug(text),
        warn: (text) => output.debug(text),
        error: (text, about) => output.warn(`${text}${causeText(about)}`),
      },
      omitInterfaces: (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).filter((name) => !bindings.includes(name)),
      // Pages of other sites must not reach a server of this machine, least of all one that adds credentials.
      ...(isLocal ? { hosts: localHosts(publicUrl) } : {}),
      ...(publicUrl !== undefined ? { publicUrl } : {}),
      ...(grpcPort !== undefined ? { grpcPort } : {}),
      drainMs: 1_000,
      ...(settings.has('quiet') ? {} : { onOutcome: (answered: EndedCall) => output.note(describeAnswer(answered)) }),
    }).catch((cause: NodeJS.ErrnoException & { readonly path?: string }) => {
      if (cause.code === undefined) throw cause
      const isGrpc = cause.path === 'grpcPort'
      throw listenError(cause, `${host}:${isGrpc ? grpcPort : port}`, isGrpc ? '--grpc-port' : '--port')
    })
    const stopped = untilStopped(context)
    // After one more the process ends at once, and its programs would outlive it.
    const stopListening = context.terminal.onInterrupt((count) => {
      if (count > 1) void mode.close()
    })
    try {
      const url = publicUrl ?? server.url
      const cardUrl = `${url}/.well-known/agent-card.json`
      if (output.format === 'json')
        await output.document({ version: 1, url, cardUrl, grpcPort: server.grpcPort ?? null })
      else
        await output.text(
          [
            `Listening: ${url}`,
            `Card: ${cardUrl}`,
            ...(server.grpcPort === undefined ? [] : [`gRPC Port: ${server.grpcPort}`]),
          ].join('\n'),
        )
      await stopped
    } finally {
      await server.close()
      stopListening()
    }
  } finally {
    await mode.close()
  }
}

/** Ctrl-C and SIGTERM are the usual end of a server, and no failure. */
function untilStopped({ terminal, signal }: CommandContext): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      remove()
      resolve()
    }
    const remove = terminal.onInterrupt(stop)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

/** Earlier drafts of the specification call it `--transport`. With `--proxy` that is how the upstream is called. */
function servedNames(settings: Settings): readonly string[] {
  const names = settings.values('serve-transport')
  const isOther = settings.value('proxy') === undefined && settings.sourceOf('transport').kind === 'flag'
  return names.length === 0 && isOther ? settings.values('transport') : names
}

const bindingOf: Readonly<Record<string, BindingName>> = {
  rest: 'HTTP+JSON',
  'http+json': 'HTTP+JSON',
  jsonrpc: 'JSONRPC',
  grpc: 'GRPC',
}

function servedBindings(names: readonly string[]): readonly BindingName[] {
  if (names.length === 0) return ['HTTP+JSON', 'JSONRPC']
  return names.map((name) => {
    const binding = bindingOf[name.toLowerCase()]
    if (binding === undefined) throw usageError(`--serve-transport ${name}: the bindings are rest, jsonrpc and grpc.`)
    return binding
  })
}

function protocolOptions({ settings }: CommandContext): Pick<ServeOptions, 'versions' | 'card'> {
  const protocol = settings.value('protocol') ?? 'latest'
  if (protocol === '0.3') return { versions: ['0.3'], card: '0.3' }
  if (protocol !== 'latest') throw usageError(`--protocol ${protocol}: the values are latest and 0.3.`)
  const versions = versionIds.filter((version) => !isLegacyVersion(version))
  return settings.has('card-compat')
    ? { versions: [...versions, '0.3'], card: 'merged' }
    : { versions, card: newestVersion }
}

function advertisedUrl(address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  const url = /^https?:\/\//i.test(address) ? address : `http://${address}`
  if (!URL.canParse(url)) throw usageError(`--advertise-address ${address}: not an address.`)
  return url.replace(/\/+$/, '')
}

function localHosts(publicUrl: string | undefined): readonly string[] {
  const advertised = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return ['localhost', '127.0.0.1', '[::1]', '::1', ...advertised]
}

function describeAnswer({ operation, endpoint, outcome, binding, version, taskId, durationMs }: EndedCall): string {
  const what = endpoint === 'card' ? 'card' : (operation ?? 'unknown operation')
  const wire = version === undefined ? '' : ` ${binding} ${version}`
  return `${what}${wire} ${outcome}${taskId === undefined ? '' : ` task ${taskId}`} ${Math.round(durationMs)}ms`
}

function causeText(about: Readonly<Record<string, unknown>> | undefined): string {
  const cause = about?.['cause']
  return cause instanceof Error ? `: ${cause.message}` : ''
}
