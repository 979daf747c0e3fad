/**
 * The agents that a hub offers to the caller, from its catalog (`/.well-known/ai-catalog.json`). If a hub has no catalog,
 * the agent at its root is used.
 */
import { A2AError } from '@parley/a2a'
import { linkSignals, omitUndefined } from '@parley/a2a/internal'
import type { Fetch } from '@parley/a2a/client'
import { z } from 'zod'
import { catalogExtension } from '../../discovery/discovery-routes.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'

export interface HubCatalogEntry {
  /** The name in the hub. */
  readonly name: string
  /** URL of the agent, or of its card. */
  readonly url: string
  /** Whether the hub itself serves it: credentials for the hub are not valid elsewhere. */
  readonly isOwn: boolean
  /** The skills that the caller may use, if the hub reports them: a card is the same for all callers. */
  readonly skills?: readonly string[]
}

const entry = z.looseObject({
  identifier: z.string().optional(),
  displayName: z.string().optional(),
  // The first drafts of the catalog named it media type.
  type: z.string().optional(),
  mediaType: z.string().optional(),
  url: z.string().optional(),
  extensions: z
    .looseObject({ [catalogExtension]: z.looseObject({ skills: z.array(z.string()) }).optional() })
    .optional()
    .catch(undefined),
})
const catalog = z.looseObject({ entries: z.array(z.unknown()) })

const mostBytes = 5_000_000
const mostEntries = 1_000
const timeoutMs = 15_000

export async function fetchHubCatalog(
  hub: string,
  key: string | undefined,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly HubCatalogEntry[]> {
  const url = `${hub}/.well-known/ai-catalog.json`
  const headers = { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
  const limit = linkSignals([signal], timeoutMs)
  try {
    return await read(hub, new Request(url, { headers, signal: limit.signal, redirect: 'error' }), fetch)
  } finally {
    limit.end()
  }
}

async function read(hub: string, request: Request, fetch: Fetch): Promise<readonly HubCatalogEntry[]> {
  const response = await fetch(request).catch((cause: unknown) => {
    throw new A2AError('AGENT_UNAVAILABLE', `No hub responds at ${hub}`, {}, { cause })
  })
  if (response.status === 404) return [{ name: 'default', url: hub, isOwn: true }]
  if (response.status === 401) throw new A2AError('UNAUTHENTICATED', 'The hub does not accept this key')
  if (!response.ok) throw new A2AError('AGENT_UNAVAILABLE', `The hub returned ${response.status}`)
  return parseHubCatalog(await readBounded(response), hub)
}

async function readBounded(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length
    if (size > mostBytes) throw new A2AError('INVALID_AGENT_RESPONSE', 'The catalog of the hub is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

export function parseHubCatalog(text: string, hub: string): readonly HubCatalogEntry[] {
  const read = catalog.safeParse(parseJsonOrUndefined(text))
  if (!read.success) throw new A2AError('INVALID_AGENT_RESPONSE', 'The hub returned no readable catalog')
  return read.data.entries.slice(0, mostEntries).flatMap((one) => {
    const { data } = entry.safeParse(one)
    const isAgent = /agent-card/.test(data?.type ?? data?.mediaType ?? '')
    if (data?.url === undefined || !isAgent || !URL.canParse(data.url, hub)) return []
    const url = new URL(data.url, hub)
    const [, own] = /\/a2a\/([\w.~-]+)(?:\/|$)/.exec(url.pathname) ?? []
    const { skills } = data.extensions?.[catalogExtension] ?? {}
    // Called through the configured address, whatever the hub's public address is.
    if (own !== undefined) {
      return [{ name: own, url: `${hub}/a2a/${own}`, isOwn: true, ...omitUndefined({ skills }) }]
    }
    const name = data.identifier?.split(/[:/]/).at(-1) || data.displayName
    return name === undefined || name === '' ? [] : [{ name, url: url.href, isOwn: url.origin === new URL(hub).origin }]
  })
}
