/**
 * How many files a reader opens to follow one request: those that ran for it, by precise coverage. Prints the walk of each path:
 * files, functions, lines of these files. Lower a bound when you shorten its path.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startMeasured, type Walk } from './measured-process.ts'

/** The store is in memory, so that the files of a database do not count. */
const maxFilesOfServer = 58
/** The module, the SQLite store, and what a hub adds to every request. */
const maxFilesOfHub = 94
const maxFilesOfProxyHop = 112

describe('the path of one warm SendStreamingMessage', () => {
  it(`touches at most ${maxFilesOfServer} files of a server`, async (t) => {
    const server = await startMeasured(t, 'echo-server')
    check('server, memory', await server.walkOfRequest(), maxFilesOfServer)
  })

  it(`touches at most ${maxFilesOfHub} files of a hub with a module on SQLite`, async (t) => {
    const entry = { kind: 'module', path: './echo-agent.ts' }
    const hub = await startMeasured(t, 'hub', JSON.stringify(entry), 'sqlite:')
    check('hub, module, SQLite', await hub.walkOfRequest(), maxFilesOfHub)
  })

  it(`touches at most ${maxFilesOfProxyHop} files of a hub that proxies it to another server`, async (t) => {
    const remote = await startMeasured(t, 'echo-server')
    const hub = await startMeasured(t, 'hub', JSON.stringify({ kind: 'a2a', url: remote.url }), 'memory:')
    check('hub, proxy, memory', await hub.walkOfRequest(), maxFilesOfProxyHop)
  })
})

function check(path: string, { files, functions, lines }: Walk, most: number): void {
  console.log(`${path}: ${files.length} files, ${functions} functions, ${lines} lines of these files`)
  assert.ok(files.length <= most, `${files.length} files, more than ${most}:\n${files.join('\n')}`)
}
