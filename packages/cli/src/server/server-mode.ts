/** What `a2a server` serves: exactly one of `--echo`, `--proxy` and `--exec`. */
import type { AgentCard } from '@parley/a2a'
import { cardInfo } from '@parley/a2a/internal'
import type { ServeOptions } from '@parley/a2a/node'
import type { AgentConnection } from '../agent/connection.ts'
import type { Settings } from '../args/settings.ts'
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { cardText, textOfCard } from './card-settings.ts'

export interface ServerMode {
  /** The agent, its card, and what the mode needs of the server. */
  readonly options: Partial<ServeOptions>
  /** What others could do with it, for the warning about a public address. */
  readonly exposure: string
  close(): Promise<void>
}

/** The largest output of one program. */
const maxOutputBytes = 10_000_000

export async function serverMode(context: CommandContext): Promise<ServerMode> {
  const { settings } = context
  const command = settings.value('exec')
  const proxy = settings.value('proxy')
  const given = [settings.has('echo'), proxy !== undefined, command !== undefined].filter(Boolean).length
  if (given !== 1)
    throw usageError(
      given === 0 ? 'What to serve is missing.' : '--echo, --proxy and --exec exclude each other.',
      'Pass one of --echo, --proxy <url> and --exec <command>.',
    )
  if (command === undefined && settings.value('chunk') !== undefined) throw usageError('--chunk needs --exec.')
  if (command !== undefined) return execMode(context, command)
  return proxy === undefined ? echoMode(context) : proxyMode(context, proxy)
}

/** Lets webhooks be on this machine: the receiver of `task push-config listen` is. */
const localWebhooks = { allow: ['127.0.0.0/8', '::1', 'localhost'] }

async function echoMode({ settings, terminal }: CommandContext): Promise<ServerMode> {
  const { echoAgent } = await import('./echo-agent.ts')
  const text = {
    name: 'Echo Agent',
    description: 'Returns the parts of the message as an artifact',
    inputModes: ['*/*'],
    outputModes: ['*/*'],
  }
  return {
    options: { ...(await cardText(settings, terminal.cwd, text)), agent: echoAgent, push: localWebhooks },
    exposure: 'The echo agent is public.',
    close: async () => {},
  }
}

async function execMode({ settings, terminal }: CommandContext, command: string): Promise<ServerMode> {
  const [{ createExecAgent }, { createConcurrencyLimit }, { unescapeDelimiter }] = await Promise.all([
    import('./exec-agent.ts'),
    import('./concurrency-limit.ts'),
    import('./split-output.ts'),
  ])
  const delimiter = settings.value('chunk')
  if (delimiter === '') throw usageError('--chunk must not be empty.')
  const timeoutMs = settings.durationMs('exec-timeout') ?? 300_000
  const text = {
    name: 'Exec Agent',
    // Only the program: the card is public, and arguments may contain secrets.
    description: `Runs ${programOf(command)}`,
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['text/plain'],
  }
  const agent = createExecAgent({
    command,
    cwd: terminal.cwd,
    environment: withoutCredentials(terminal.environment),
    ...(delimiter !== undefined ? { delimiter: unescapeDelimiter(delimiter) } : {}),
    timeoutMs,
    maxOutputBytes,
    limit: createConcurrencyLimit(settings.integer('max-running', 1, 10_000) ?? 16),
  })
  return {
    options: { ...(await cardText(settings, terminal.cwd, text)), agent: agent.run, push: localWebhooks },
    exposure: 'The server runs a command on this machine for every message.',
    close: async () => agent.close(),
  }
}

/** The program needs none of them, and its output goes to the caller. */
function withoutCredentials(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('A2ACLI_')))
}

async function proxyMode(context: CommandContext, url: string): Promise<ServerMode> {
  const { settings, terminal } = context
  const { createProxyEngine } = await import('./proxy-engine.ts')
  const connection = await connectUpstream(context, url)
  const { agent } = connection
  const extended = agent.card.capabilities.extendedAgentCard === true
  return {
    options: {
      ...(await cardText(settings, terminal.cwd, textOfCard(agent.card))),
      agent: () => {
        throw new Error('the engine of the proxy calls no agent')
      },
      wrapEngine: (own) => createProxyEngine(agent, own),
      // The upstream identifies the proxy by its credential; here every caller may use it, and see the extended card.
      authenticate: () => ({ id: 'proxy' }),
      ...(extended
        ? { extendedCard: async () => textPatch(await agent.session.call('GetExtendedAgentCard', {})) }
        : {}),
      // The upstream calls the webhook, and decides which it allows.
      ...(connection.canPush ? { push: { allow: ['0.0.0.0/0', '::/0'] } } : {}),
    },
    exposure: 'The proxy adds your credentials to every call.',
    close: () => connection.close(),
  }
}

/** The agent of `--proxy <url>`, or of `--agent-card` or `--endpoint` if it has no value. */
async function connectUpstream(context: CommandContext, url: string): Promise<AgentConnection> {
  const { settings, terminal, output, signal } = context
  const { connectAgent } = await import('../agent/connect.ts')
  const deps = { terminal, settings, output, signal, forwardsStreams: true } as const
  if (url === '') return connectAgent(deps)
  if ([settings.sourceOf('agent-card'), settings.sourceOf('endpoint')].some(({ kind }) => kind === 'flag'))
    throw usageError('--proxy <url> excludes --agent-card and --endpoint.')
  const flag = { kind: 'flag' } as const
  const upstream: Settings = {
    ...settings,
    value: (name) => (name === 'agent-card' ? url : name === 'endpoint' ? undefined : settings.value(name)),
    sourceOf: (name) => (name === 'agent-card' ? flag : settings.sourceOf(name)),
  }
  return connectAgent({ ...deps, settings: upstream })
}

function textPatch(card: AgentCard) {
  const { name, description, version, skills } = card
  return { name, description, version, skills, ...cardInfo(card) }
}

/** The name of the program that a shell command starts with, without variables before it. */
function programOf(command: string): string {
  const word =
    command
      .trim()
      .split(/\s+/)
      .find((text) => !/^\w+=/.test(text)) ?? ''
  return /^[\w./-]+$/.test(word) ? (word.split('/').at(-1) ?? '') : 'a program'
}
