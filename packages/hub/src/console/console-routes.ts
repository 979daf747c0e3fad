/**
 * Serves the console at `/` and its pages. A page and an A2A request over REST may have the same URL (`/tasks/1`): browsers ask for
 * HTML by name, and A2A clients do not. The page gets all its data from the admin API, and its content security policy blocks
 * everything else, whatever an agent writes. A browser at an unknown URL gets the page, too, which shows a not-found message.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from '@parley/a2a/node'
import { requestPath } from '../http/route-request.ts'
import { readConsoleFiles } from './console-files.ts'
import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface ConsoleDeps {
  /** The folder of the built console. */
  readonly folder: URL
  isEnabled(): boolean
  /** The routes after those of the hub. Calls `next` for any other path. */
  routes(request: IncomingMessage, response: ServerResponse, next: () => void): void
}

export interface ConsoleMiddleware {
  readonly pages: Middleware
  /** The last middleware: answers every remaining request. */
  readonly notFound: Middleware
}

const prefix = '/console/'
/** API paths, whose errors are JSON. */
const apiPaths = /^\/(a2a|admin|mcp|console|\.well-known)(\/|$)/

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  // PDFs of agents, from memory, in the browser's viewer. A blob has the type that the page gave it, and this policy.
  'frame-src blob:',
  'object-src blob:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const pageName = 'index.html'
/** The names of the pages, which the build of the console writes. */
const manifest = 'pages.json'
const notBuilt = 'The console is not built. In a checkout of Parley: npm run build-console\n'

export function createConsole({ folder, isEnabled, routes }: ConsoleDeps): ConsoleMiddleware {
  const built = readConsoleFiles(folder)
  const files = serveFiles(built)
  const pageNames = JSON.parse(built.get(manifest)?.toString() ?? '[]') as readonly string[]
  const isPage = (path: string): boolean =>
    path === '/' || pageNames.some((name) => path === `/${name}` || path.startsWith(`/${name}/`))

  function answer(request: IncomingMessage, response: ServerResponse, file: ServedFile, status = 200): void {
    const { etag } = file
    const headers = {
      ...pageHeaders,
      'content-type': file.type,
      // Asset names contain a content hash; the page names the current ones.
      'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: file.name === pageName ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
      etag,
    }
    if (status === 200 && request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end()
    const isZipped = file.gzipped !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const body = isZipped ? file.gzipped : file.bytes
    response.writeHead(status, {
      ...headers,
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
      'content-length': body?.length ?? 0,
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  const pages: Middleware = (request, response) => {
    if (!isRead(request) || !isEnabled()) return false
    const path = requestPath(request)
    if (path.startsWith(prefix)) {
      const file = files.get(path.slice(prefix.length))
      if (file === undefined || file.name === pageName) return false
      answer(request, response, file)
      return true
    }
    if (!isPage(path) || !wantsPage(request)) return false
    const page = files.get(pageName)
    if (page !== undefined) answer(request, response, page)
    else response.writeHead(503, { ...pageHeaders, 'content-type': 'text/plain' }).end(notBuilt)
    return true
  }

  const notFound: Middleware = (request, response) => {
    const page = files.get(pageName)
    if (page === undefined || !isRead(request) || !wantsPage(request) || !isEnabled()) return false
    if (apiPaths.test(requestPath(request))) return false
    routes(request, response, () => answer(request, response, page, 404))
    return true
  }

  return { pages, notFound }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function wantsPage({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

/** A file of the built console, read and compressed once: there are few, and they are small. */
interface ServedFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
  /** Set if compression pays off. */
  readonly gzipped: Buffer | undefined
  readonly etag: string
  /** Whether the content under this name never changes. */
  readonly isImmutable: boolean
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By their names. */
function serveFiles(built: ReadonlyMap<string, Buffer>): ReadonlyMap<string, ServedFile> {
  const files = [...built].filter(([name]) => extname(name) in contentTypes)
  return new Map(files.map(([name, bytes]) => [name, servedFile(name, bytes)]))
}

function servedFile(name: string, bytes: Buffer): ServedFile {
  const zipped = gzipSync(bytes, { level: 9 })
  return {
    name,
    type: contentTypes[extname(name)] ?? 'application/octet-stream',
    bytes,
    gzipped: zipped.length < bytes.length ? zipped : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isImmutable: name.startsWith('assets/'),
  }
}
