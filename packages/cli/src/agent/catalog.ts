/**
 * Finds an agent by name in a catalog: a file or a URL with an AI Catalog (`entries`), or with a list of agents (`agents`, or a bare
 * array), each with a name and the address of its card. An origin stands for its `/.well-known/ai-catalog.json`.
 */
import { isStruct } from '@parley/a2a/internal'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from '../output/cli-error.ts'
import { urlOfReference } from './host-url.ts'

export interface CatalogDeps {
  readonly cwd: string
  /** Fetches a catalog, with the service parameters or without them. */
  readonly fetchText: (url: string, withParameters: boolean) => Promise<string>
}

/**
 * The reference of the entry; `undefined` if the catalog has none of this name. Service parameters are for the agent: a catalog gets
 * them only if the user has named it as the host of the agent.
 */
export async function findCatalogEntry(
  name: string,
  catalog: string,
  isHostOfAgent: boolean,
  deps: CatalogDeps,
): Promise<string | undefined> {
  const { text, base } = await readCatalog(catalog, isHostOfAgent, deps)
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `The catalog ${catalog} is not JSON.`)
  }
  const wanted = name.toLowerCase()
  const entry = entriesOf(document).find((one) => namesOf(one).some((each) => each.toLowerCase() === wanted))
  const address = entry && ['card', 'cardUrl', 'agentCard', 'url'].map((key) => entry[key]).find(isText)
  if (address === undefined) return undefined
  if (base === undefined) return address
  // A path is relative to the catalog. A catalog of the web must not name files of this machine.
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `The catalog ${catalog} names ${address}, which is no web address.`)
  return url.href
}

async function readCatalog(
  catalog: string,
  isHostOfAgent: boolean,
  { cwd, fetchText }: CatalogDeps,
): Promise<{ text: string; base?: string }> {
  const isUrl = /^https?:\/\//i.test(catalog)
  if (!isUrl) {
    const text = await readFile(resolve(cwd, catalog), 'utf8').catch(() => undefined)
    if (text !== undefined) return { text }
    if (/^[./\\]|\.json$/.test(catalog))
      throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `The catalog ${catalog} cannot be read.`)
  }
  const url = new URL(urlOfReference(catalog))
  if (url.pathname === '/') url.pathname = '/.well-known/ai-catalog.json'
  return { text: await fetchText(url.href, isHostOfAgent), base: url.href }
}

type Entry = Readonly<Record<string, unknown>>

function entriesOf(document: unknown): readonly Entry[] {
  const list: unknown = Array.isArray(document)
    ? document
    : isStruct(document)
      ? (document['entries'] ?? document['agents'])
      : []
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isStruct) : []
}

/** The last segment of an identifier such as `urn:air:example.com:a2a:baker` is a name too. */
function namesOf(entry: Entry): readonly string[] {
  const { identifier } = entry
  const last = isText(identifier) ? identifier.split(/[:/]/).at(-1) : undefined
  return [entry['name'], entry['id'], entry['displayName'], identifier, last].filter(isText)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
