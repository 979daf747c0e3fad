import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { resolveReference, type ReferenceDeps } from './agent-reference.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
const card = { name: 'Ada' }
writeFileSync(join(cwd, 'card.json'), JSON.stringify(card))
writeFileSync(join(cwd, 'broken.json'), '{')
writeFileSync(join(cwd, 'list.json'), '[]')

const deps = (over: Partial<ReferenceDeps> = {}): ReferenceDeps => ({
  cwd,
  catalog: undefined,
  fetchText: async () => assert.fail('nothing is fetched'),
  ...over,
})
const resolved = (reference: string, over?: Partial<ReferenceDeps>) => resolveReference(reference, deps(over))

describe('the reference of an agent', () => {
  it('is a host: plain http on this machine, https elsewhere', async () => {
    assert.deepEqual(await resolved('localhost:3000'), { url: 'http://localhost:3000' })
    assert.deepEqual(await resolved('127.0.0.1:3000/agents/x'), { url: 'http://127.0.0.1:3000/agents/x' })
    assert.deepEqual(await resolved('[::1]:3000'), { url: 'http://[::1]:3000' })
    assert.deepEqual(await resolved('agent.example.com'), { url: 'https://agent.example.com' })
    assert.deepEqual(await resolved('http://agent.example.com/card'), { url: 'http://agent.example.com/card' })
  })

  it('is a file: a path, its URL, or the name of an existing file', async () => {
    const document = { document: card, path: join(cwd, 'card.json') }
    for (const reference of [
      'card.json',
      './card.json',
      join(cwd, 'card.json'),
      pathToFileURL(join(cwd, 'card.json')).href,
    ])
      assert.deepEqual(await resolved(reference), document)
  })

  it('is a host although the current folder has a file of that name', async () => {
    mkdirSync(join(cwd, 'hub.example.com'))
    for (const reference of [
      ...['localhost:3000', 'localhost', 'hub:80', 'agent.example.com', '127.0.0.1'],
      'hub.example.com/card.json',
    ]) {
      writeFileSync(join(cwd, reference), JSON.stringify(card))
      assert.match(((await resolved(reference)) as { url: string }).url, /^https?:/, reference)
      assert.deepEqual(await resolved(`./${reference}`), { document: card, path: join(cwd, reference) })
    }
  })

  it('is an error with the code of what is wrong', async () => {
    const fails = (reference: string, code: string) =>
      assert.rejects(resolved(reference), { code: `A2ACLI_ERR_${code}` })
    await fails('./missing.json', 'CARD_NOT_FOUND')
    await fails('broken.json', 'CARD_INVALID')
    await fails('list.json', 'CARD_INVALID')
    await fails('gopher://x', 'USAGE')
    await fails('not a host', 'CARD_NOT_FOUND')
    await fails('https://', 'CARD_NOT_FOUND')
  })

  it('is an entry of a catalog, by its name: of a file, of a URL, or of --catalog', async () => {
    writeFileSync(join(cwd, 'agents.json'), JSON.stringify({ agents: [{ name: 'Baker', url: 'http://127.0.0.1:9' }] }))
    assert.deepEqual(await resolved('baker@./agents.json'), { url: 'http://127.0.0.1:9' })
    await assert.rejects(resolved('nemo@./agents.json'), { code: 'A2ACLI_ERR_CARD_NOT_FOUND' })
    await assert.rejects(resolved('nemo@./none.json'), { code: 'A2ACLI_ERR_CARD_NOT_FOUND' })
    const asked: string[] = []
    const fetchText = async (url: string) => {
      asked.push(url)
      return JSON.stringify({ entries: [{ identifier: 'urn:air:hub:a2a:baker', url: '/a2a/baker/card.json' }] })
    }
    assert.deepEqual(await resolved('baker@hub.example.com', { fetchText }), {
      url: 'https://hub.example.com/a2a/baker/card.json',
    })
    assert.deepEqual(asked, ['https://hub.example.com/.well-known/ai-catalog.json'])
    for (const url of ['file:///etc/passwd', 'file://host/share', 'C:\\card.json', 'ftp://a'])
      await assert.rejects(
        resolved('x@hub.example.com', { fetchText: async () => JSON.stringify([{ name: 'x', url }]) }),
        { code: 'A2ACLI_ERR_CARD_NOT_FOUND' },
      )
    const catalog = './agents.json'
    assert.deepEqual(await resolved('baker', { catalog }), { url: 'http://127.0.0.1:9' })
    assert.deepEqual(await resolved('localhost:3000', { catalog }), { url: 'http://localhost:3000' })
  })
})
