/**
 * An agent of the Agent Client Protocol on its SDK: answers, works, fails, remembers and asks for permission as the
 * message says. Its sessions are files in `BENCH`, a folder that it shares with the test. `LACKS` names what it cannot do.
 */
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { AgentContext, ContentBlock, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { agent, ndJsonStream, RequestError } from '@agentclientprotocol/sdk'

interface SessionMessage {
  readonly role: 'user' | 'agent'
  readonly text: string
}

const { BENCH = '.', LACKS = '' } = process.env
const supports = (what: string): boolean => !LACKS.split(',').includes(what)
const marker = (name: string): string => join(BENCH, name)
const fileOf = (sessionId: string): string => marker(`session-${sessionId}.json`)
const interrupted = 'You were interrupted'
const sessions = new Map<string, SessionMessage[]>()
const cancels = new Map<string, () => void>()
const modes = {
  currentModeId: 'code',
  availableModes: [
    { id: 'code', name: 'Code' },
    { id: 'plan', name: 'Plan' },
  ],
}

function save(sessionId: string): void {
  writeFileSync(fileOf(sessionId), JSON.stringify(sessions.get(sessionId)))
}

function tell(sessionId: string, role: SessionMessage['role'], text: string): void {
  sessions.get(sessionId)?.push({ role, text })
  save(sessionId)
}

function released(cancelled: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(BENCH, look)
    const done = (): void => {
      watcher.close()
      resolve()
    }
    void cancelled.finally(done)
    look()
    function look(): void {
      if (existsSync(marker('released'))) done()
    }
  })
}

async function prompt(
  client: AgentContext,
  sessionId: string,
  blocks: readonly ContentBlock[],
): Promise<PromptResponse> {
  const text = blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')
  const update = (given: SessionUpdate): Promise<void> => client.notify('session/update', { sessionId, update: given })
  const say = async (piece: string): Promise<void> => {
    tell(sessionId, 'agent', piece)
    await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: piece } })
  }
  const cancel = Promise.withResolvers<void>()
  let isCancelled = false
  cancels.set(sessionId, () => {
    isCancelled = true
    cancel.resolve()
  })
  tell(sessionId, 'user', text)
  const [verb, word = ''] = text.split(' ')

  if (text.startsWith(interrupted)) {
    const last = sessions
      .get(sessionId)
      ?.findLast(({ role, text: said }) => role === 'user' && !said.startsWith(interrupted))
    return prompt(client, sessionId, [{ type: 'text', text: last?.text === 'slow' ? 'go-on' : (last?.text ?? '') }])
  }
  if (verb === 'long') {
    await update({
      sessionUpdate: 'tool_call',
      toolCallId: 't1',
      title: 'Working',
      kind: 'think',
      status: 'in_progress',
    })
    writeFileSync(marker('begun'), String(process.pid))
    await cancel.promise
    writeFileSync(marker('stopped'), '')
    return { stopReason: 'cancelled' }
  } else if (verb === 'fail') throw RequestError.internalError({ host: 'host-7' }, 'host-7 is down')
  else if (verb === 'remember') await say('noted')
  else if (verb === 'recall') {
    const entry = sessions.get(sessionId)?.find(({ text: said }) => said.startsWith('remember '))
    await say(entry?.text.split(' ')[1] ?? 'nothing')
  } else if (verb === 'slow' || verb === 'go-on') {
    if (verb === 'slow') await say('one ')
    writeFileSync(marker('begun'), String(process.pid))
    await released(cancel.promise)
    if (isCancelled) return { stopReason: 'cancelled' }
    await say('two ')
    await say('three')
  } else if (verb === 'ask') {
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall: { toolCallId: 't2', title: word === '' ? 'Delete everything' : word, kind: 'delete' },
      options: [
        { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    })
    if (outcome.outcome === 'cancelled') {
      writeFileSync(marker('stopped'), 'cancelled')
      return { stopReason: 'cancelled' }
    }
    await say(`chose ${outcome.optionId}`)
  } else if (verb === 'stop') return { stopReason: word as PromptResponse['stopReason'] }
  else if (verb === 'exit') process.exit(3)
  else if (verb === 'debris') {
    process.stdout.write('Loading weights...\n{"not": "a message"}\n\n')
    await say('still here')
  } else if (verb === 'work') {
    await update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } })
    await update({ sessionUpdate: 'plan', entries: [{ content: 'Read', priority: 'high', status: 'pending' }] })
    const call = { toolCallId: 't3', title: 'Reading', kind: 'read' as const, locations: [{ path: '/secret/place' }] }
    await update({ sessionUpdate: 'tool_call', ...call, status: 'pending', rawInput: { path: '/secret/place' } })
    await update({ sessionUpdate: 'tool_call_update', toolCallId: 't3', status: 'completed' })
    await update({ sessionUpdate: 'agent_message_chunk', messageId: 'a', content: { type: 'text', text: 'first' } })
    await update({ sessionUpdate: 'agent_message_chunk', messageId: 'b', content: { type: 'text', text: 'second' } })
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    await update({ sessionUpdate: 'agent_message_chunk', content: image })
  } else if (verb === 'blocks') await say(JSON.stringify(blocks))
  else if (verb === 'flood')
    for (;;) await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(10_000) } })
  else if (verb === 'read') {
    const { content } = await client.request('fs/read_text_file', { sessionId, path: word, line: 2, limit: 1 })
    await say(content)
  } else if (verb === 'write') {
    await client.request('fs/write_text_file', { sessionId, path: word, content: 'written' })
    await say('done')
  } else if (verb === 'run') {
    const terminal = await client.createTerminal({ sessionId, command: 'sh', args: ['-c', text.slice(4)] })
    const { exitCode } = await terminal.waitForExit()
    const { output } = await terminal.currentOutput()
    await terminal.release()
    await say(`${exitCode} ${output}`)
  } else if (verb === 'deaf') {
    writeFileSync(marker('deaf'), '')
    await new Promise(() => {})
  } else {
    for (const piece of ['you ', 'said ', `${word}.`]) await say(piece)
  }
  return { stopReason: 'end_turn' }
}

let mode = modes.currentModeId
let model = 'small'
const described = (): object => ({
  modes: { ...modes, currentModeId: mode },
  configOptions: [
    {
      ...{ type: 'select', id: 'llm', name: 'Model', category: 'model', currentValue: model },
      options: [
        { value: 'small', name: 'Small' },
        { value: 'large', name: 'Large' },
      ],
    },
  ],
})

const { closed } = agent({ name: 'scripted' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'scripted', title: 'Scripted', version: '7.0.0' },
    agentCapabilities: {
      loadSession: supports('load'),
      promptCapabilities: { image: supports('image'), embeddedContext: supports('embed') },
    },
  }))
  .onRequest('session/new', () => {
    if (!supports('sign-in')) throw RequestError.authRequired()
    const sessionId = crypto.randomUUID()
    sessions.set(sessionId, [])
    save(sessionId)
    return { sessionId, ...described() }
  })
  .onRequest('session/load', async ({ params: { sessionId }, client }) => {
    if (!existsSync(fileOf(sessionId))) throw RequestError.sessionNotFound(sessionId)
    const messages = JSON.parse(readFileSync(fileOf(sessionId), 'utf8')) as SessionMessage[]
    sessions.set(sessionId, messages)
    for (const { role, text } of messages) {
      await client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: `${role}_message_chunk`, content: { type: 'text', text } },
      })
    }
    return described()
  })
  .onRequest('session/set_mode', ({ params }) => {
    mode = params.modeId
    return {}
  })
  .onRequest('session/set_config_option', ({ params }) => {
    model = String(params.value)
    return { configOptions: [] }
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const { _meta: meta } = params
    const about: Record<string, string> = { settings: `${mode} ${model}`, trace: JSON.stringify(meta) }
    if (about[text] === undefined) return prompt(client, params.sessionId, params.prompt)
    const content = { type: 'text', text: about[text] } as const
    await client.notify('session/update', {
      sessionId: params.sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content },
    })
    return { stopReason: 'end_turn' }
  })
  .onNotification('session/cancel', ({ params }) => cancels.get(params.sessionId)?.())
  .connect(ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, Readable.toWeb(process.stdin)))

// A program whose hub has exited has no client.
await closed
process.exit(0)
