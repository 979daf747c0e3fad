/** The options of a call as the client takes them: transports, version, service parameters. Checked before the network is used. */
import type { VersionId } from '@parley/a2a/client'
import { versionIds } from '@parley/a2a/internal'
import type { Settings } from '../args/settings.ts'
import { usageError } from '../output/cli-error.ts'

const bindingNames: Readonly<Record<string, string>> = {
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  rest: 'HTTP+JSON',
  'http+json': 'HTTP+JSON',
  'http-json': 'HTTP+JSON',
  grpc: 'GRPC',
}

/** `--transport` in the names of cards, in the order of the user. */
export function transportsOf(settings: Settings): readonly string[] {
  return settings.values('transport').map((given) => {
    const name = bindingNames[given.toLowerCase()]
    if (name === undefined) throw usageError(`--transport ${given}: unknown binding.`, 'Use jsonrpc, rest or grpc.')
    return name
  })
}

/** Spoken unless the user names another one: never below 1.0 (§6.5), and every agent of a later 1.x speaks it too. */
export const defaultVersion: VersionId = '1.0'

/** The strength of the source of a setting. */
export function rankOf(settings: Settings, name: string): number {
  return ['default', 'file', 'environment', 'flag'].indexOf(settings.sourceOf(name).kind)
}

/** Whether `--endpoint` names the agent: the file of a project must not replace what the user's environment names. */
export function usesEndpoint(settings: Settings): boolean {
  if (settings.value('endpoint') === undefined) return false
  return settings.value('agent-card') === undefined || rankOf(settings, 'endpoint') >= rankOf(settings, 'agent-card')
}

/** `--a2a-version` without its patch number; `undefined` if it is not set. */
export function versionOf(settings: Settings): VersionId | undefined {
  const given = settings.value('a2a-version')
  if (given === undefined) return undefined
  const [, major, minor = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.\d+)?$/.exec(given) ?? []
  const version = versionIds.find((known) => known === `${major ?? ''}.${minor}`)
  if (version === undefined)
    throw usageError(`--a2a-version ${given}: not supported.`, `Use one of ${versionIds.join(', ')}.`)
  return version
}

/** `--svc-param` as headers: `name:value` or `name=value`, split at the earlier of both. A repeated name is a list. */
export function serviceParametersOf(settings: Settings): Readonly<Record<string, string>> {
  // Without a prototype: `constructor` is a name like any other.
  const headers = Object.create(null) as Record<string, string>
  for (const given of settings.values('svc-param')) {
    const [, name = '', value = ''] = /^([^:=]*)[:=](.*)$/s.exec(given) ?? []
    const key = name.trim().toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(key) || /[\r\n\0]/.test(value.trim()))
      // The value may be a secret.
      throw usageError(`--svc-param ${key || '(empty)'}: must be <name>:<value>.`)
    headers[key] = [...(headers[key] === undefined ? [] : [headers[key]]), value.trim()].join(', ')
  }
  return headers
}

/** How long polls are apart: at least `--poll-interval`, and up to four times as long for a task that takes its time. */
export function pollIntervalsOf(settings: Settings): { readonly firstPollMs: number; readonly pollMs: number } {
  const firstPollMs = Math.max(1, settings.durationMs('poll-interval') ?? 2_000)
  return { firstPollMs, pollMs: Math.max(firstPollMs, Math.min(firstPollMs * 4, 30_000)) }
}

/** The words as a shell reads them. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
