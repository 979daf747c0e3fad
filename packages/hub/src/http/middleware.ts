/** The hub's own routes, tried in order before those of the agents. */
import type { Middleware } from '@parley/a2a/node'

/** Paths of the hub itself, in matching order. Most requests are messages for agents, and match none of them. */
const hubPaths = {
  admin: /^\/admin|\/api-key/,
  console: /^\/(?!a2a\/)/,
  discovery: /^\/(a2a|\.well-known\/ai-catalog\.json)(\?|$)/,
  webhooks: /^\/a2a\/[^/]+\/hooks/,
  metrics: /^\/metrics/,
  simpleTasks: /^\/a2a\/tasks\//,
  chat: /^\/bot-instances\//,
  mcp: /^\/(mcp|\.well-known\/oauth-protected-resource\/mcp)/,
  notFound: /^\/(?!a2a\/)/,
} as const

/** A module without a middleware is disabled. */
export type HubMiddleware = Readonly<Partial<Record<keyof typeof hubPaths, Middleware | undefined>>>

/** The first middleware that takes a request answers it. */
export function composeMiddleware(modules: HubMiddleware): Middleware {
  const routes = Object.entries(hubPaths).flatMap(([name, path]) => {
    const middleware = modules[name as keyof typeof hubPaths]
    return middleware === undefined ? [] : [{ path, middleware }]
  })
  // One test for the requests that reach none of them.
  const anyPath = new RegExp(routes.map(({ path }) => path.source).join('|'))
  return (request, response) => {
    const { url = '' } = request
    return anyPath.test(url) && routes.some(({ path, middleware }) => path.test(url) && middleware(request, response))
  }
}
