/**
 * The console's files at `/` and its pages. A page and a request of A2A over REST may have the same address (`/tasks/1`): what a
 * browser opens asks for HTML by name, and no client does. The page gets all it shows by the admin API, and its policy lets it
 * reach nothing else, whatever an agent writes. A browser at an address that nothing serves gets the page, too, which says so.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Front } from '@parley/a2a/node'
import { pathOf } from '../admin/route-request.ts'
import { readFiles } from './files.ts'
import type { ServedFile } from './files.ts'

export interface ConsoleParts {
  /** Where the built console is. */
  readonly folder: URL
  isOn(): boolean
  /** The routes behind those of the hub. Calls `next` for a path that is none of them. */
  routes(request: IncomingMessage, response: ServerResponse, next: () => void): void
}

export interface ConsoleFronts {
  readonly pages: Front
  /** The last of all: it answers what nothing else does. */
  readonly notFound: Front
}

const pages = ['agents', 'playground', 'tasks', 'traces', 'push', 'routes', 'settings', 'welcome']
const prefix = '/console/'
/** Paths of programs, which are told in JSON what is wrong with them. */
const forPrograms = /^\/(a2a|admin|mcp|console|\.well-known)(\/|$)/

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
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
const notBuilt = 'The console is not built. In a checkout of Parley: npm run build-console\n'

export function createConsole({ folder, isOn, routes }: ConsoleParts): ConsoleFronts {
  const files = readFiles(folder)

  function answer(request: IncomingMessage, response: ServerResponse, file: ServedFile, status = 200): void {
    const { etag } = file
    const headers = {
      ...pageHeaders,
      'content-type': file.type,
      // The names of assets tell what is in them; the page says which ones are wanted now.
      'cache-control': file.isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: file.name === pageName ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
      etag,
    }
    if (status === 200 && request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end()
    const isZipped = file.zipped !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const body = isZipped ? file.zipped : file.bytes
    response.writeHead(status, {
      ...headers,
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
      'content-length': body?.length ?? 0,
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  const pages: Front = (request, response) => {
    if (!isRead(request) || !isOn()) return false
    const path = pathOf(request)
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

  const notFound: Front = (request, response) => {
    const page = files.get(pageName)
    if (page === undefined || !isRead(request) || !wantsPage(request) || !isOn()) return false
    if (forPrograms.test(pathOf(request))) return false
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

function isPage(path: string): boolean {
  return path === '/' || pages.some((name) => path === `/${name}` || path.startsWith(`/${name}/`))
}
