/**
 * The page that a browser gets at the root of a server: the agents, and how to call them. Plain HTML without scripts; all texts of
 * agents are escaped.
 */
import type { HttpResponse } from '../../bindings/http.ts'
import type { AgentCard } from '../../model/card.ts'

export interface HomePageAgent {
  /** The URL for calls. */
  readonly url: string
  readonly card: Pick<AgentCard, 'name' | 'description' | 'version' | 'skills' | 'securityRequirements'>
}

export function homePage(agents: readonly HomePageAgent[]): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      vary: 'Accept',
    },
    body: document(agents),
  }
}

const style =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}' +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:1rem;border:1px solid #8886;border-radius:6px;font-size:14px}article{margin-top:3rem}'

/** SHA-256 of `style`, so that no other style is applied. A test compares them. */
const styleHash = 'sha256-xTsbtUWDh+6BLYgSSp91wi6VCEtYiLgq1P7agJvgW2A='

function document(agents: readonly HomePageAgent[]): string {
  const [only] = agents
  const title = only !== undefined && agents.length === 1 ? only.card.name : 'A2A agents'
  const lead =
    agents.length === 0
      ? 'This server speaks A2A, the Agent2Agent protocol. Sign in to see its agents.'
      : 'This server speaks A2A, the Agent2Agent protocol for programs. This page describes its agents.'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>${style}</style>
<h1 dir="auto">${escape(title)}</h1>
<p>${lead}</p>
${agents.map((agent) => section(agent, agents.length > 1)).join('')}</html>
`
}

function section({ url, card }: HomePageAgent, isOneOfMany: boolean): string {
  const { name, description, version, skills } = card
  const isGuarded = (card.securityRequirements ?? []).length > 0
  // A card needs a skill: without skills of its own an agent is listed as one.
  const own = skills.filter((skill) => skill.name !== name || skill.description !== description)
  const listed = own.map((skill) => `<li dir="auto">${escape(skill.name)}: ${escape(skill.description)}</li>`)
  return `<article>
${isOneOfMany ? `<h2 dir="auto">${escape(name)}</h2>\n` : ''}<p dir="auto">${escape(description)}</p>
${listed.length === 0 ? '' : `<ul>${listed.join('')}</ul>\n`}<p>Version ${escape(version)} · <a href="${escape(`${url}/.well-known/agent-card.json`)}">Agent card</a>${isGuarded ? ' · Requires authentication (see the card)' : ''}</p>
<pre>${escape(curl(url))}</pre>
<pre>${escape(program(url))}</pre>
</article>
`
}

/** The id differs for each page and each second: a message with the same id would get the earlier task again. */
const curl = (url: string): string => `curl ${url}/message:send \\
  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\
  -d '{ "message": { "messageId": "${crypto.randomUUID().slice(0, 8)}-'$(date +%s)'", "role": "ROLE_USER", "parts": [{ "text": "Hello" }] } }'`

const program = (url: string): string => `import { connect } from '@parley/a2a/client'

const agent = await connect('${url}')
console.log(await agent.ask('Hello'))`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
