/** The message of a dry run: as query parameters, as the body of the request, and as a curl command. Pure. */
import type { Operations, Route } from '../../../api/admin.ts'
import { agentPath } from '../../../agent/agent-path.ts'
import { shellQuote } from '../../../components/shell/curl.ts'

type DecideBody = Operations['decideRoute']['body']

export interface DryRun {
  readonly agent: string
  readonly text: string
  readonly skill: string
  readonly caller: string
  /** JSON, as typed. */
  readonly metadata: string
  /** `data`, `file` or media types, separated by commas; the text is a part of its own. */
  readonly parts: string
}

/** `text` in the address is the filter of the agents beside it. */
const fieldNames = { text: 'message', skill: 'skill', caller: 'caller', metadata: 'metadata', parts: 'parts' } as const
type FieldName = keyof typeof fieldNames
const fields = Object.entries(fieldNames) as readonly (readonly [FieldName, string])[]

export function emptyDryRun(agent: string): DryRun {
  return { agent, text: '', skill: '', caller: '', metadata: '', parts: '' }
}

/** `undefined` if nothing was asked yet. */
export function dryRunFromQuery(agent: string, query: URLSearchParams): DryRun | undefined {
  if (!fields.some(([, name]) => query.has(name))) return undefined
  return { ...emptyDryRun(agent), ...Object.fromEntries(fields.map(([field, name]) => [field, query.get(name) ?? ''])) }
}

/** The address of the dry run, or of the rules of an agent. The text is there even if it is empty. */
export function dryRunHref(run: DryRun | string): string {
  if (typeof run === 'string') return agentPath(run, 'routes')
  const given = fields.filter(([field]) => field === 'text' || run[field] !== '')
  return `${agentPath(run.agent, 'routes')}?${new URLSearchParams(given.map(([field, name]) => [name, run[field]]))}`
}

/** What is wrong with the metadata; `undefined` if it is valid. */
export function metadataError(metadata: string): string | undefined {
  if (metadata.trim() === '') return undefined
  try {
    const read: unknown = JSON.parse(metadata)
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read)
    return isObject ? undefined : 'Enter an object, such as {"order": "A-1"}'
  } catch (reason) {
    return `Not valid JSON: ${reason instanceof Error ? reason.message : String(reason)}`
  }
}

export function decideRouteBody({ agent, text, skill, caller, metadata, parts }: DryRun): DecideBody {
  const kinds = splitPartKinds(parts)
  return {
    agent,
    ...(kinds.length === 0 ? { text } : { parts: partsOf(text, kinds) }),
    ...(skill.trim() !== '' ? { skill: skill.trim() } : {}),
    ...(caller.trim() !== '' ? { caller: caller.trim() } : {}),
    ...(metadata.trim() !== '' ? { metadata: JSON.parse(metadata) as Record<string, unknown> } : {}),
  }
}

/** The key is a variable, never its value. */
export function decideRouteCurl(origin: string, run: DryRun): string {
  return [
    `curl -X POST ${shellQuote(`${origin}/admin/routes/decide`)}`,
    '  -H "Authorization: Bearer $PARLEY_ADMIN_KEY" -H \'Content-Type: application/json\'',
    `  -d ${shellQuote(JSON.stringify(decideRouteBody(run)))}`,
  ].join(' \\\n')
}

export function splitPartKinds(parts: string): readonly string[] {
  return parts
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function partsOf(text: string, kinds: readonly string[]): readonly Record<string, unknown>[] {
  const made = kinds
    .filter((kind) => kind !== 'text')
    .map((kind) => {
      if (kind === 'data') return { data: {} }
      return kind === 'file' ? { raw: '' } : { raw: '', mediaType: kind }
    })
  return text === '' && made.length > 0 ? made : [{ text }, ...made]
}

/** A message that the rule would match, as far as the rule determines it. */
export function dryRunForRule(agent: string, { when }: Pick<Route, 'when'>): DryRun {
  const { text, skill, metadata, caller, parts } = when ?? {}
  const wanted = Object.entries(metadata ?? {}).map(([path, value]) => [path, firstOf(value)])
  return {
    agent,
    text: plain(firstOf(text)),
    skill: plain(firstOf(skill)),
    caller: plain(firstOf(caller)).replaceAll('*', 'x'),
    metadata: wanted.length === 0 ? '' : JSON.stringify(Object.fromEntries(wanted)),
    parts: plain(firstOf(parts))
      .replace('/*', '/png')
      .replace(/^text$/, ''),
  }
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[0] : value
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
