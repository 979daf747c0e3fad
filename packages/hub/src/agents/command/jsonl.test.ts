import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ArtifactLine, artifactReport, parseJsonlLine } from './jsonl.ts'

const nothing = () => Promise.reject(new Error('no files here'))
const artifact = async (line: object) =>
  artifactReport(parseJsonlLine(JSON.stringify({ type: 'artifact', ...line })) as ArtifactLine, nothing)

describe('a line of a program', () => {
  it('is one of six kinds', () => {
    for (const line of [
      { type: 'assistant', text: 'hi' },
      { type: 'artifact', text: 'hi' },
      { type: 'status', text: 'reading', metadata: { page: 1 } },
      { type: 'status' },
      { type: 'input_required', text: 'Which?', data: { cities: ['Rome'] }, state: 7 },
      { type: 'error', text: 'no' },
      { type: 'done' },
    ]) {
      assert.deepEqual(parseJsonlLine(JSON.stringify(line)), line)
    }
  })

  it('is left out where its kind is not known yet', () => {
    assert.deepEqual(parseJsonlLine('{"type":"usage","tokens":3}'), { type: 'unknown', name: 'usage' })
  })

  it('is refused where it cannot be meant', () => {
    for (const line of ['hello', '{"type":"assist', '7', 'null', '[]', '{}', '{"type":3}', '{"type":"assistant"}']) {
      assert.equal(parseJsonlLine(line).type, 'invalid', line)
    }
    assert.equal(parseJsonlLine('{"type":"error","text":""}').type, 'invalid')
    assert.equal(parseJsonlLine('{"type":"artifact","base64":"%%"}').type, 'invalid')
    const many = `{"type":"artifact","data":[${'1,'.repeat(100_000)}1]}`
    assert.deepEqual(parseJsonlLine(many), { type: 'invalid', why: 'it holds more than 100000 JSON values' })
    assert.equal(parseJsonlLine(many, 200_000).type, 'artifact')
  })
})

describe('an artifact of a program', () => {
  it('has the one content that the line gives, or many', async () => {
    assert.deepEqual(await artifact({ artifactId: 'a', text: 'x', name: 'X', append: true, lastChunk: true }), {
      artifact: { artifactId: 'a', name: 'X', parts: [{ text: 'x' }] },
      append: true,
      lastChunk: true,
    })
    const many = await artifact({
      artifactId: 'a',
      parts: [{ data: null }, { url: 'https://example.com/' }],
      text: 'y',
    })
    assert.deepEqual(many, {
      artifact: { artifactId: 'a', parts: [{ data: null }, { url: 'https://example.com/' }, { text: 'y' }] },
    })
  })

  it('is a file by its bytes or by its path', async () => {
    const given = { artifactId: 'a', base64: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' }
    assert.deepEqual(await artifact(given), {
      artifact: { artifactId: 'a', parts: [{ raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' }] },
    })
    const line = parseJsonlLine('{"type":"artifact","artifactId":"a","path":"out/r.pdf"}') as ArtifactLine
    const readFile = async (path: string) => ({ bytes: Buffer.from(path), filename: 'r.pdf' })
    assert.deepEqual(await artifactReport(line, readFile), {
      artifact: {
        artifactId: 'a',
        parts: [{ raw: Buffer.from('out/r.pdf').toString('base64'), filename: 'r.pdf' }],
      },
    })
  })

  it('is another one each time if it has no id', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const made = await artifact({ text: 'x' })
        return 'artifact' in made ? made.artifact.artifactId : undefined
      }),
    )
    assert.equal(new Set(ids).size, 2)
  })
})
