/**
 * The hub is killed during a run of a remote agent, which continues. The next hub resumes the
 * task, and readers receive every event once.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import { clearCardCache, connect } from '@parley/a2a/client'
import type { EventFrame } from '@parley/a2a/client'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { freePort } from '../free-port.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import type { PeerKind } from '../interop/client/peer.ts'
import { sdk03 } from '../interop/client/sdk-0.3-server.ts'
import { sdk1 } from '../interop/client/sdk-1-server.ts'
import { chunksIn, statesIn } from './fake-remote-fixture.ts'
import { statusOf, textOf } from './proxy-fixture.ts'
import { parleyPeer } from './parley-peer.ts'
import { createRemoteScript, dripPiece, heldText, numberedWords } from './remote-script.ts'
import type { RemoteScript } from './remote-script.ts'

interface World {
  readonly script: RemoteScript
  release(name: string): void
  connect(): ReturnType<typeof connect>
  kill(): void
  restart(): Promise<void>
}

async function openWorld(t: TestContext, kind: PeerKind): Promise<World> {
  clearCardCache()
  const script = createRemoteScript()
  const peer = await kind.open(script.play)
  t.after(() => peer.close())
  const port = String(await freePort())
  const partner = `{ kind: a2a, url: "${peer.url}", protocol: "${kind.version}", bindings: ["${kind.binding}"], allowPrivate: true, pollEvery: 50ms }`
  const folder = await newFolder({ 'parley.yaml': `agents:\n  partner: ${partner}\n` })
  const start = () => startHub(folder, ['-c', 'parley.yaml'], { PORT: port, GRPC_PORT: '' })
  let hub = await start()
  return {
    script,
    release: peer.release,
    connect: () =>
      connect(`${hub.url}/a2a/partner`, { limits: { attempts: 200, firstDelayMs: 50, maxDelayMs: 100, pollMs: 50 } }),
    kill: () => hub.signal('SIGKILL'),
    async restart() {
      hub = await start()
    },
  }
}

const eventsOf = (frames: readonly EventFrame[]): readonly StreamEvent[] => frames.map(({ event }) => event)

/** Each event has its own number, and the numbers increase. */
function assertOnce(frames: readonly EventFrame[]): void {
  const ids = frames.map(({ id }) => Number(id))
  const grown = [...new Set(ids)].sort((a, b) => a - b)
  assert.deepEqual(ids, grown)
}

const remotes: readonly [kind: PeerKind, isOurs: boolean][] = [
  [parleyPeer('1.0', 'JSONRPC'), true],
  [parleyPeer('1.0', 'GRPC'), true],
  [sdk1('1.0', 'JSONRPC'), false],
  [sdk03('JSONRPC'), false],
]

for (const [kind, isOurs] of remotes) {
  describe(`a hub that is killed before ${kind.name}`, { timeout: 120_000 }, () => {
    it('resumes a paused task, with no event lost or doubled [B-52]', async (t) => {
      const world = await openWorld(t, kind)
      const agent = await world.connect()
      const stream = agent.stream('hold it')
      const frames: EventFrame[] = []
      const killed = Promise.withResolvers<void>()
      const restarted = killed.promise.then(async () => {
        world.kill()
        // It reports the rest while no client listens.
        world.release('hold it')
        await world.restart()
      })
      for await (const frame of stream.frames()) {
        frames.push(frame)
        if (chunksIn([frame.event]).includes('two ')) killed.resolve()
      }
      await restarted
      assertOnce(frames)
      assert.equal(chunksIn(eventsOf(frames)).join(''), heldText)
      const states = statesIn(eventsOf(frames))
      assert.deepEqual(states[0], 'WORKING: Holding')
      assert.equal(states.at(-1), 'COMPLETED')
      assert.equal(new Set(states).size, states.length, `said twice: ${states.join(', ')}`)
      if (isOurs) assert.deepEqual(chunksIn(eventsOf(frames)), ['one ', 'two ', 'three ', 'four'])
      assert.deepEqual(world.script.played, ['hold it'], 'the remote agent was asked once')
    })

    it('resumes a task that streams all the time, however often the hub is killed [B-52]', async (t) => {
      const world = await openWorld(t, kind)
      const agent = await world.connect()
      const all = 300
      const stream = agent.stream(`drip ${all}`)
      const frames: EventFrame[] = []
      const wordCount = (): number => chunksIn(eventsOf(frames)).join('').split(' ').length - 1
      const killer = (async () => {
        for (const round of [1, 2]) {
          const from = wordCount()
          // A poll returns many chunks at once.
          await eventually(() => wordCount() >= from + (isOurs ? 20 : 1))
          world.kill()
          await world.restart()
          await eventually(() => wordCount() >= round * dripPiece(all))
          world.release(`drip ${round}`)
        }
      })()
      for await (const frame of stream.frames()) frames.push(frame)
      await killer
      assertOnce(frames)
      const events = eventsOf(frames)
      assert.equal(chunksIn(events).join(''), numberedWords(all).join(''))
      if (isOurs) {
        assert.deepEqual(chunksIn(events), numberedWords(all))
        const working = statesIn(events).filter((state) => state.startsWith('WORKING'))
        assert.deepEqual(
          working,
          numberedWords(all).flatMap((_, index) => (index % 16 === 15 ? [`WORKING: at ${index}`] : [])),
        )
      }
      const task = await agent.get(stream.taskId ?? '')
      assert.deepEqual([statusOf(task), textOf(task)], ['COMPLETED', numberedWords(all).join('')])
      assert.equal(world.script.played.length, 1, 'the remote agent was asked once')
    })
  })
}
