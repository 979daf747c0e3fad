/** What happens to a turn at a real gateway when the gateway restarts or the connection is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import { openOpenclawFixture } from '../agents/openclaw-fixture.ts'
import { sendText, readChunks, joinChunks, readEventMetadata, statusOf, textOf } from '../agents/openclaw-test-agent.ts'
import { installOpenclaw } from './install.ts'
import { openWebSocketProxy } from './websocket-proxy.ts'
import type { WebSocketProxy } from './websocket-proxy.ts'
import { openRealGateway } from './real-gateway.ts'
import type { RealGateway } from './real-gateway.ts'

const found = await installOpenclaw()
const skip = 'missing' in found ? found.missing : false
const times = { stepTimeoutMs: 120_000 }

describe('at a real gateway', { skip }, () => {
  let gateway: RealGateway
  before(async () => {
    gateway = await openRealGateway('program' in found ? found.program : '')
  })
  after(() => gateway?.close())

  interface Scene {
    readonly agent: TestAgent
    readonly line: WebSocketProxy
  }

  async function open(t: TestContext, entry: object = {}): Promise<Scene> {
    gateway.responder.reset()
    const line = await openWebSocketProxy(gateway.url)
    const bench = openOpenclawFixture({ ...gateway, url: line.url }, { transport: 'ws', ...entry }, undefined, {
      idleMs: 60_000,
      everyMs: 500,
    })
    const agent = testAgent(bench.agent, { turnTimeoutMs: 300_000 })
    t.after(async () => {
      await agent.close()
      await bench.close()
      line.close()
    })
    return { agent, line }
  }

  async function begin({ agent }: Scene, text = 'take your time'): Promise<Task> {
    const task = await sendText(agent, text, { returnImmediately: true })
    await gateway.responder.begun()
    return task
  }

  async function end({ agent }: Scene, { id }: Task): Promise<Task> {
    for (const giveUpAt = Date.now() + times.stepTimeoutMs; ;) {
      const task = await agent.get(id)
      if (/COMPLETED|FAILED|CANCELED/.test(task.status.state)) return task
      assert.ok(Date.now() < giveUpAt, `the task is still ${task.status.state}; the gateway says ${gateway.logs()}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  it('a turn is found again after a lost connection, and is run once', async (t) => {
    const scene = await open(t)
    const task = await begin(scene)
    scene.line.cut()
    gateway.responder.release()
    assert.equal(textOf(await end(scene, task)), 'one two three')
    assert.equal(gateway.responder.times('take your time'), 1)
  })

  it('a turn that ended while the connection was lost is found, with its whole output', async (t) => {
    const scene = await open(t)
    const task = await begin(scene)
    scene.line.block()
    gateway.responder.release()
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    scene.line.unblock()
    assert.equal(textOf(await end(scene, task)), 'one two three')
    assert.equal(gateway.responder.times('take your time'), 1)
  })

  it('a turn can be canceled over the next connection', async (t) => {
    const scene = await open(t)
    const task = await begin(scene, 'work for ever')
    scene.line.cut()
    assert.equal((await scene.agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await gateway.responder.stopped()
  })

  it('a turn with a tool is delivered completely, with the tool and without a warning', async (t) => {
    const scene = await open(t, { toolCalls: 'full' })
    const allMetadata = await readEventMetadata(scene.agent, 'run the command echo hi')
    assert.ok(!allMetadata.some((metadata) => 'warning' in metadata), JSON.stringify(allMetadata))
    const calls = allMetadata.flatMap(({ toolCall }) => toolCall ?? []) as unknown as readonly Readonly<
      Record<string, unknown>
    >[]
    assert.deepEqual(
      calls.map(({ name, phase, args, isError }) => ({ name, phase, args, isError })),
      [
        { name: 'exec', phase: 'start', args: { command: 'echo hi' }, isError: undefined },
        { name: 'exec', phase: 'result', args: undefined, isError: false },
      ],
    )
    // The gateway may treat output right before a tool call as a comment and not as part of the answer.
    assert.match(textOf(await sendText(scene.agent, 'run the command echo hi')), /^(Let me see\.\n\n)?It said: hi$/)
  })

  it('a turn over HTTP is answered, fails and is stopped like any other, in the same session', async (t) => {
    const scene = await open(t, { transport: 'http' })
    const { contextId } = await sendText(scene.agent, 'remember plum')
    assert.equal(textOf(await sendText(scene.agent, 'what was it?', { contextId })), 'It was plum')
    const chunks = await readChunks(scene.agent, 'count to 5')
    assert.equal(joinChunks(chunks), '1 2 3 4 5')
    const failed = await sendText(scene.agent, 'fail now')
    assert.equal(failed.status.state, 'TASK_STATE_FAILED')
    assert.doesNotMatch(JSON.stringify(failed), /sk-123/)
    const task = await begin(scene, 'work for ever')
    assert.equal((await scene.agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await gateway.responder.stopped()
  })

  it('blocking calls use HTTP and streams use the WebSocket, in one session', async (t) => {
    const scene = await open(t, { transport: 'split' })
    const { contextId } = await sendText(scene.agent, 'remember plum')
    let said = ''
    for await (const event of scene.agent.stream('what was it?', { contextId: contextId as string })) {
      if (!('artifactUpdate' in event)) continue
      said += event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
    }
    assert.equal(said, 'It was plum')
  })

  it("a caller's text is never a command", async (t) => {
    const scene = await open(t, { approvals: 'caller' })
    assert.equal(textOf(await sendText(scene.agent, '/new say hello')), 'You said hello')
    assert.equal(textOf(await sendText(scene.agent, 'stop')), 'I read you')
    assert.equal(textOf(await sendText(scene.agent, 'Note: /reset')), 'I read you')
    assert.match(gateway.model.lastUserTexts().at(-1) ?? '', /Note: `\/reset`/)
    const plain = await open(t)
    assert.equal(textOf(await sendText(plain.agent, '/new say hello')), 'You said hello')
  })

  it('images and files reach the model', async (t) => {
    const scene = await open(t)
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await scene.agent.send([{ text: 'say picture' }, { raw: pixel, mediaType: 'image/png', filename: 'a.png' }])
    assert.match(gateway.model.lastUserTexts().at(-1) ?? '', /\[image_url\]/)
    const raw = Buffer.from('the moon is made of cheese').toString('base64')
    await scene.agent.send([{ text: 'say file' }, { raw, mediaType: 'text/plain', filename: 'a.txt' }])
    assert.match(gateway.model.lastUserTexts().at(-1) ?? '', /made of cheese/)
  })

  it('the card has the usable skills', async (t) => {
    gateway.responder.reset()
    const bench = openOpenclawFixture(gateway)
    t.after(bench.close)
    const card = await bench.open.fetchCard?.(AbortSignal.timeout(120_000))
    assert.ok((card?.skills?.length ?? 0) > 3, JSON.stringify(card))
    assert.doesNotMatch(JSON.stringify(card), /parley-openclaw/, 'a path of the machine')
    assert.equal(gateway.responder.times(''), 0, 'the model was asked')
    await bench.open.health?.(AbortSignal.timeout(120_000))
  })

  it('a turn is followed after the gateway was killed and resumed it', async (t) => {
    const scene = await open(t)
    const task = await begin(scene)
    await gateway.stop('SIGKILL')
    gateway.responder.release()
    await gateway.start()
    const done = await end(scene, task)
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED', statusOf(done))
    assert.equal(textOf(done), 'one two three')
  })

  it('a turn ends before a terminating gateway does, and the next goes to the new one', async (t) => {
    const scene = await open(t)
    const task = await begin(scene)
    const gone = gateway.stop('SIGTERM')
    gateway.responder.release()
    assert.equal(textOf(await end(scene, task)), 'one two three')
    await gone
    await gateway.start()
    assert.equal(textOf(await sendText(scene.agent, 'count to 3')), '1 2 3')
  })
})
