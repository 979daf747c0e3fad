/** The message of a dry run: as query parameters, as the body of the request, and as a curl command. Pure. */
import type { Operations, Route } from '../../api/admin.ts'
import { shellQuote } from '../../components/shell/curl.ts'
import { routesStrings } from './strings.ts'

type DecideBody = Operations['decideRoute']['body']

export interface DryRun {
  /** Empty if nothing was asked yet. */
  readonly agent: string
  readonly text: string
  readonly skill: string
  readonly caller: string
  /** JSON, as typed. */
  readonly metadata: string
  /** `data`, `file` or media types, separated by commas; the text is a part of its own. */
  readonly parts: string
}

export const dryRunFieldNames = ['agent', 'text', 'skill', 'caller', 'metadata', 'parts'] as const

export const emptyDryRun: DryRun = { agent: '', text: '', skill: '', caller: '', metadata: '', parts: '' }

export function dryRunFromQuery(query: URLSearchParams): DryRun {
  return Object.fromEntries(dryRunFieldNames.map((name) => [name, query.get(name) ?? ''])) as unknown as DryRun
}

export function dryRunHref(run: DryRun, also: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(
    [...Object.entries(run), ...Object.entries(also)].filter(([, value]) => value !== ''),
  )
  return query.size === 0 ? '/routes' : `/routes?${query}`
}

/** What is wrong with the metadata; `undefined` if it is valid. */
export function metadataError(metadata: string): string | undefined {
  if (metadata.trim() === '') return undefined
  try {
    const read: unknown = JSON.parse(metadata)
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read)
    return isObject ? undefined : routesStrings.test.notObject
  } catch (reason) {
    return routesStrings.test.notJson(reason instanceof Error ? reason.message : String(reason))
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
export function dryRunForRule({ from, when }: Pick<Route, 'from' | 'when'>): DryRun {
  const { text, skill, metadata, caller, parts } = when ?? {}
  const wanted = Object.entries(metadata ?? {}).map(([path, value]) => [path, firstOf(value)])
  return {
    agent: from[0] ?? '',
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
