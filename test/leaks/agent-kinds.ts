/** An answer of every kind of agent of a hub, and delegated work: the measured process. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { agentFile } from '../delegation/open-hub.ts'
import { fillCaches, openMeasuredHub, openUpstreams } from './measured-hub.ts'
import { type LeakCase, measureAll } from './measure.ts'

const upstreams = await openUpstreams()
const acpAgent = join(import.meta.dirname, '../agents/programs/acp-agent.ts')
const keptProgram = 'while IFS= read -r line; do [ -z "$line" ] && continue; echo "You said: $line"; echo; done'
const limits = { concurrent: 1, queue: 10 }

const folder = mkdtempSync(join(tmpdir(), 'parley-leaks-'))
const agents = {
  module: { kind: 'module', path: agentFile('echo') },
  queued: { kind: 'module', path: agentFile('echo'), limits },
  front: { kind: 'module', path: agentFile('front') },
  gpt: { kind: 'openai', baseUrl: upstreams.model, model: 'scripted' },
  loop: { kind: 'loop', model: 'gpt', tools: [{ agent: 'module' }] },
  claw: { kind: 'openclaw', ...upstreams.gateway, transport: 'ws' },
  'claw-http': { kind: 'openclaw', ...upstreams.gateway, transport: 'http' },
  command: { kind: 'command', command: ['cat'] },
  kept: { kind: 'command', command: ['sh', '-c', keptProgram], mode: 'keep' },
  acp: { kind: 'acp', command: [process.execPath, acpAgent], env: { BENCH: folder } },
  tools: { kind: 'mcp', url: upstreams.mcp },
  remote: { kind: 'a2a', url: upstreams.remote },
  'remote-rest': { kind: 'a2a', url: upstreams.remote, bindings: ['HTTP+JSON'] },
  'remote-grpc': { kind: 'a2a', url: upstreams.remote, bindings: ['GRPC'] },
}
const { hub, close } = await openMeasuredHub({ agents }, folder)

interface AgentKindCase {
  readonly agent: string
  readonly text?: string
  /** Starts a program for each conversation, so all messages use one. */
  readonly isOneConversation?: boolean
  readonly streamed?: boolean
  /** At the same time. */
  readonly together?: number
  readonly slowness?: number
  readonly fullOnly?: boolean
}

const measured: readonly AgentKindCase[] = [
  { agent: 'module' },
  { agent: 'module', streamed: true },
  { agent: 'queued', together: 4, slowness: 4, fullOnly: true },
  { agent: 'front', text: 'module hello', slowness: 2 },
  { agent: 'front', text: 'remote hello', slowness: 2, fullOnly: true },
  { agent: 'gpt' },
  { agent: 'loop', slowness: 2 },
  { agent: 'claw', text: 'say hello', slowness: 2, fullOnly: true },
  { agent: 'claw-http', text: 'say hello', slowness: 2, fullOnly: true },
  { agent: 'command', slowness: 4 },
  { agent: 'kept', isOneConversation: true, slowness: 2 },
  { agent: 'acp', text: 'remember this', isOneConversation: true, slowness: 2, fullOnly: true },
  { agent: 'tools', text: 'say hello', slowness: 2 },
  { agent: 'remote', slowness: 2 },
  { agent: 'remote', streamed: true, slowness: 2, fullOnly: true },
  { agent: 'remote-rest', slowness: 2, fullOnly: true },
  { agent: 'remote-grpc', slowness: 2, fullOnly: true },
]

async function caseOf({ agent: name, text = 'hello', together = 1, ...kind }: AgentKindCase): Promise<LeakCase> {
  const agent = await connect(`${hub.url}/a2a/${name}`)
  const contextId = newId()
  const about = kind.isOneConversation === true ? { contextId } : {}
  const say = async (): Promise<void> => {
    const answer = kind.streamed === true ? await agent.stream(text, about).result() : await agent.send(text, about)
    assert.ok(answer.kind === 'message' || answer.status.state === 'TASK_STATE_COMPLETED', JSON.stringify(answer))
  }
  return {
    name: `${name}${kind.streamed === true ? ', streamed' : ''}${text.includes(' ') ? ` (${text})` : ''}`,
    run: () => Promise.all(Array.from({ length: together }, say)),
    slowness: kind.slowness ?? 1,
    fullOnly: kind.fullOnly === true,
  }
}

try {
  await fillCaches(`${hub.url}/a2a/module`)
  for (const kind of measured) await measureAll([await caseOf(kind)])
} finally {
  upstreams.close()
  await close()
}
process.exit(0)
