import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isAllowed, mcpServerEntry, serverOf } from './server.ts'

const surroundings = { baseDir: '/etc/parley', programEnv: { PATH: '/bin' } }

describe('an MCP server in the configuration', () => {
  it('is a program with a place and an environment, or an address with credentials', () => {
    const program = mcpServerEntry.parse({ command: ['npx', 'x'], cwd: './work', env: { TOKEN: 't' } })
    assert.deepEqual(serverOf(program, surroundings), {
      command: ['npx', 'x'],
      cwd: '/etc/parley/work',
      env: { PATH: '/bin', TOKEN: 't' },
    })
    const address = mcpServerEntry.parse({ url: 'https://x.test/mcp', bearer: 'b', headers: { 'x-a': '1' } })
    assert.deepEqual(serverOf(address, surroundings), {
      url: 'https://x.test/mcp',
      headers: { authorization: 'Bearer b', 'x-a': '1' },
    })
  })

  it('is one of the two, and not both', () => {
    for (const wrong of [{}, { command: ['x'], url: 'https://x.test' }, { command: [] }, { url: 'ftp://x' }])
      assert.equal(mcpServerEntry.safeParse(wrong).success, false, JSON.stringify(wrong))
  })

  it('may be used as far as its tools are allowed [S0-28]', () => {
    assert.ok(isAllowed('anything', undefined))
    assert.ok(isAllowed('get_a', ['get_*', 'x']) && isAllowed('x', ['get_*', 'x']))
    assert.ok(!isAllowed('set_a', ['get_*', 'x']) && !isAllowed('xx', ['get_*', 'x']) && !isAllowed('a', []))
    assert.ok(!isAllowed('axb', ['a.b']))
    assert.ok(!isAllowed('get_b', ['get_*'], ['*_b']) && !isAllowed('get_b', undefined, ['get_b']))
    assert.ok(isAllowed('get_a', ['get_*'], ['*_b']))
  })
})
