/**
 * How many files a reader opens to follow one request: those that ran for it, by precise coverage. The store is in memory, so
 * that the files of a database do not count.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startMeasured } from './measured-process.ts'

/** The goal is 50. These files have 11,000 lines together: 50 of them would be longer than the 200 lines that a file should have. */
const maxFilesOfStreamingMessage = 73
/** The goal is 120. The durable store of a turn, session keys and the statistics history added eight files, the counts of callers one. */
const maxFilesOfProxyHop = 127

describe('the path of one warm SendStreamingMessage', () => {
  it(`touches at most ${maxFilesOfStreamingMessage} files of a server`, async (t) => {
    const server = await startMeasured(t, 'echo-server')
    assertAtMost(await server.filesPerRequest(), maxFilesOfStreamingMessage)
  })

  it(`touches at most ${maxFilesOfProxyHop} files of a hub that proxies it to another server`, async (t) => {
    const remote = await startMeasured(t, 'echo-server')
    const hub = await startMeasured(t, 'proxy-hub', remote.url)
    assertAtMost(await hub.filesPerRequest(), maxFilesOfProxyHop)
  })
})

function assertAtMost(files: readonly string[], most: number): void {
  assert.ok(files.length <= most, `${files.length} files, more than ${most}:\n${files.join('\n')}`)
}
