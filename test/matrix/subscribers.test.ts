/** One task, subscribers of every version over every binding: the same events, in the same order, under the same ids. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { artifact, inputRequired, status } from '@parley/a2a'
import { cells, nameOf, stores, cellBindings } from './cells.ts'
import { createGate, createScenarioContext } from './scenario.ts'
import { formOf, statusUpdateIn, isLegacy } from './spelling.ts'

describe('one task with subscribers of different versions and bindings', () => {
  for (const store of Object.keys(stores)) {
    const cell = cells.find((candidate) => candidate.store === store && !isLegacy(candidate))!

    it(`delivers the same events in the same order to each, with final only in 0.x, on ${store} [B-94 B-93 B-97 B-109]`, async (test) => {
      const { world, close } = createScenarioContext(cell)
      test.after(close)
      const everybodyIsThere = createGate()
      const peer = world.open(async function* ({ text }) {
        await everybodyIsThere.opened
        yield status('looking')
        for (let n = 0; n < 20; n++) {
          yield `${n} `
          if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        yield artifact('table', { data: { rows: [1, 2] }, name: 'table' })
        if (text === 'go') yield inputRequired('more?')
      })
      const begun = await peer.send('go', { returnImmediately: true })
      assert.ok('status' in begun)

      // Twice each: two readers of one dialect share their bytes.
      const readers = [...cellBindings, ...cellBindings].map((way) => ({
        way,
        stream: peer.as(way).subscribe(begun.id).frames(),
      }))
      for (const { stream } of readers) {
        const { value: first } = await stream.next()
        assert.ok(first !== undefined && 'task' in first.event)
      }
      everybodyIsThere.open()
      const received = await Promise.all(
        readers.map(async ({ way, stream }) => ({ way, frames: await Array.fromAsync(stream) })),
      )

      const [one, ...others] = received.map(({ frames }) => frames.map(({ event, id }) => ({ event, id })))
      // The status, the chunks, the table, the question.
      assert.equal(one?.length, 1 + 20 + 1 + 1)
      for (const [index, events] of others.entries()) {
        assert.deepEqual(events, one, nameOf(readers[index + 1]!.way))
      }
      for (const { way, frames } of received) {
        const finals = frames.map(({ final }) => final).filter((final) => final !== undefined)
        assert.deepEqual(finals, isLegacy(way) ? [false, true] : [], nameOf(way))
      }
    })

    it(`writes the same bytes for two readers of one dialect, except for the JSON-RPC id, on ${store} [B-94 F-6]`, async (test) => {
      const { world, close } = createScenarioContext(cell)
      test.after(close)
      const peer = world.open(function* () {
        yield 'a'
        yield 'b'
      })
      const done = await peer.send('go')
      assert.ok('status' in done)
      const after = { headers: { 'Last-Event-ID': '1' } }
      for (const way of cellBindings) {
        const { raw } = peer.as(way)
        const first = await raw.stream('SubscribeToTask', { id: done.id }, after)
        const second = await raw.stream('SubscribeToTask', { id: done.id }, after)
        assert.ok(first.frames.length >= 4)
        assert.deepEqual(
          second.frames.map(({ id, payload }) => [id, payload]),
          first.frames.map(({ id, payload }) => [id, payload]),
        )
        const last = statusUpdateIn(formOf(way), first.frames.at(-1)?.payload)
        assert.equal(last.final, isLegacy(way) ? true : undefined)
      }
    })
  }
})
