/** What `--agent-card` names: a host, an origin, the URL of a card, a file with a card, or an entry of a catalog. */
import { stat, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError, usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'
import type { CatalogDeps } from './catalog.ts'
import { namesHost, urlOfReference } from './host-url.ts'

/** The target of the client: a URL, at which it looks for the card, or the document of a card. */
export type CardTarget =
  | { readonly url: string }
  | { readonly document: Record<string, unknown>; readonly path: string }

export interface ReferenceDeps extends CatalogDeps {
  /** The catalog of `--catalog`, in which the reference is looked up first. */
  readonly catalog: string | undefined
}

/** Throws a usage error, or A2ACLI_ERR_CARD_NOT_FOUND for a reference that leads nowhere. */
export async function resolveReference(reference: string, deps: ReferenceDeps): Promise<CardTarget> {
  const [, name, catalog] = /^([^@:/\\]+)@(.+)$/.exec(reference) ?? []
  if (name !== undefined && catalog !== undefined) return fromCatalog(name, catalog, deps, 'required')
  if (deps.catalog !== undefined) return fromCatalog(reference, deps.catalog, deps, 'optional')
  return resolvePlainReference(reference, deps)
}

async function fromCatalog(
  name: string,
  catalog: string,
  deps: ReferenceDeps,
  policy: 'required' | 'optional',
): Promise<CardTarget> {
  const { findCatalogEntry } = await import('./catalog.ts')
  const found = await findCatalogEntry(name, catalog, policy === 'required', deps)
  if (found !== undefined) return resolvePlainReference(found, deps)
  if (policy === 'optional') return resolvePlainReference(name, deps)
  throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `The catalog ${catalog} has no agent ${name}.`)
}

async function resolvePlainReference(reference: string, { cwd }: ReferenceDeps): Promise<CardTarget> {
  if (/^https?:\/\//i.test(reference)) return { url: urlOfReference(reference) }
  if (/^file:\/\//i.test(reference)) return readCardFile(fileUrlPath(reference))
  const path = resolve(cwd, reference)
  if (isPath(reference) || (!namesHost(reference) && (await isFile(path)))) return readCardFile(path)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(reference))
    throw usageError(`--agent-card ${reference}: the scheme is not supported.`, 'Use http, https or file.')
  return { url: urlOfReference(reference) }
}

const isPath = (reference: string): boolean => /^(\/|\.{1,2}([/\\]|$)|[A-Za-z]:[\\/])/.test(reference)

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

function fileUrlPath(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    throw usageError(`--agent-card ${url}: not the URL of a local file.`)
  }
}

async function readCardFile(path: string): Promise<CardTarget> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `${path} cannot be read: ${fileErrorText(cause)}`, { cause })
  })
  try {
    const document: unknown = JSON.parse(text)
    if (typeof document === 'object' && document !== null && !Array.isArray(document))
      return { document: document as Record<string, unknown>, path }
  } catch (cause) {
    throw new CliError('A2ACLI_ERR_CARD_INVALID', `${path} is not JSON: ${(cause as Error).message}`, { cause })
  }
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `${path} is not an agent card: it must be a JSON object.`)
}
