/** Files of a message, and files of artifacts. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { GivenOption } from '../../args/option.ts'
import { serveDemoAgent } from '../../testing/demo-agent.ts'
import { createMemoryTerminal, runInMemory } from '../../testing/memory-terminal.ts'
import { artifactFiles, safeName } from './artifact-files.ts'
import { readMessageParts } from '../message-parts.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
writeFileSync(join(cwd, 'note.txt'), 'a note')
writeFileSync(join(cwd, 'blob'), Buffer.from([0, 255]))
writeFileSync(join(cwd, 'a.json'), '{"a":1}')
writeFileSync(join(cwd, 'broken.json'), '{')

const given = (...pairs: readonly [string, string][]): GivenOption[] => pairs.map(([name, value]) => ({ name, value }))
const parts = (options: readonly GivenOption[], operands: readonly string[] = [], stdin = '') =>
  readMessageParts({
    args: { options, operands },
    terminal: Object.create(createMemoryTerminal({ cwd }), { input: { value: Readable.from([stdin]) } }) as never,
    output: undefined as never,
    signal: new AbortController().signal,
  })

describe('the parts of a message', () => {
  it('have the order of the command line, across options', async () => {
    assert.deepEqual(
      await parts(
        given(
          ['text', 'one'],
          ['file', 'note.txt'],
          ['data', 'a.json'],
          ['text', 'two'],
          ['data', '-'],
          ['file', 'blob'],
        ),
        [],
        '[true]',
      ),
      [
        { text: 'one' },
        { raw: Buffer.from('a note').toString('base64'), filename: 'note.txt', mediaType: 'text/plain' },
        { data: { a: 1 } },
        { text: 'two' },
        { data: [true] },
        { raw: 'AP8=', filename: 'blob', mediaType: 'application/octet-stream' },
      ],
    )
    assert.deepEqual(await parts([], ['hello']), [{ text: 'hello' }])
  })

  it('take the media type after them, and a URL as it is', async () => {
    assert.deepEqual(
      await parts(given(['text', '# x'], ['media-type', 'text/markdown'], ['file', 'https://f.test/a%20b.pdf?x=1'])),
      [
        { text: '# x', mediaType: 'text/markdown' },
        { url: 'https://f.test/a%20b.pdf?x=1', filename: 'a b.pdf', mediaType: 'application/pdf' },
      ],
    )
  })

  it('name in words why a file cannot be read', async () => {
    await assert.rejects(
      parts(given(['file', 'missing.txt'])),
      /^CliError: --file missing\.txt cannot be read: no such file\.$/,
    )
    await assert.rejects(parts(given(['file', '.'])), /--file \. cannot be read: is a folder\./)
    await assert.rejects(parts(given(['data', 'missing.json'])), /--data missing\.json cannot be read: no such file\./)
    await assert.rejects(parts(given(['data', 'note.txt/a'])), /a part of its path is a file/)
  })

  it('are a usage error before anything is sent, if they make no sense', async () => {
    const wrong: readonly (readonly [GivenOption[], string[]?])[] = [
      [[]],
      [given(['media-type', 'text/plain'])],
      [given(['text', 'x'], ['media-type', 'text/plain'], ['media-type', 'text/html'])],
      [given(['text', 'x'], ['media-type', 'nonsense'])],
      [given(['text', 'x']), ['positional']],
      [given(['file', 'missing.txt'])],
      [given(['data', 'broken.json'])],
      [given(['data', '-'], ['data', '-'])],
    ]
    for (const [options, operands] of wrong)
      await assert.rejects(parts(options, operands), { code: 'A2ACLI_ERR_USAGE' }, JSON.stringify(options))
  })
})

describe('the names of saved files', () => {
  it('are plain names, whatever the agent calls them', () => {
    assert.deepEqual(
      [
        '../../etc/passwd',
        String.raw`..\..\x.dll`,
        '.bashrc',
        'a\u001b[31mb',
        'CON.txt',
        '',
        '...',
        '-rf',
        'ok.txt',
      ].map(safeName),
      ['passwd', 'x.dll', 'bashrc', 'a_[31mb', '_CON.txt', 'file', 'file', 'rf', 'ok.txt'],
    )
    assert.ok(safeName(`${'x'.repeat(300)}.png`).length <= 200)
  })

  it('fit into a file system, in bytes', () => {
    for (const name of [
      `${'語'.repeat(150)}.txt`,
      `${'😀'.repeat(99)}x.txt`,
      `a.${'é'.repeat(300)}`,
      'x'.repeat(201),
    ]) {
      assert.ok(Buffer.byteLength(safeName(name)) <= 200, name)
      assert.ok(safeName(name).isWellFormed() && !safeName(name).includes('\uFFFD'), name)
    }
    assert.match(safeName(`${'語'.repeat(150)}.txt`), /語\.txt$/)
  })

  it('are numbered in linear time, and letters of either composition are the same', () => {
    const raw = ''
    const many = Array.from({ length: 20_000 }, () => ({ raw, filename: 'x.bin' }))
    const before = process.threadCpuUsage()
    const names = artifactFiles([{ artifactId: 'a', parts: many }]).map(({ name }) => name)
    assert.ok(process.threadCpuUsage(before).user < 5_000_000)
    assert.deepEqual([new Set(names).size, names.at(-1)], [20_000, 'x (20000).bin'])
    const given = ['x (2)', 'x', 'X', 'x (2)', '\u00E9', 'e\u0301']
    const parts = given.map((filename) => ({ raw, filename }))
    assert.deepEqual(
      artifactFiles([{ artifactId: 'a', parts }]).map(({ name }) => name),
      ['x (2)', 'x', 'X (3)', 'x (2) (2)', '\u00E9', 'e\u0301 (2)'],
    )
  })

  it('are numbered if they repeat, and come from the artifact if there is none', () => {
    const names = artifactFiles([
      {
        artifactId: 'a',
        parts: [
          { raw: 'AA==', filename: 'x.png' },
          { raw: 'AA==', filename: 'X.png' },
        ],
      },
      { artifactId: 'b', name: 'notes', parts: [{ text: 'one ' }, { text: 'two' }] },
      { artifactId: 'c', parts: [{ data: 1 }, { raw: 'AA==', mediaType: 'image/png' }] },
    ]).map(({ name, bytes }) => [name, Buffer.from(bytes()).toString('latin1')])
    assert.deepEqual(names, [
      ['x.png', '\0'],
      ['X (2).png', '\0'],
      ['notes.txt', 'one two'],
      ['c-1.json', '1\n'],
      ['c-2.png', '\0'],
    ])
  })
})

describe('task download', async () => {
  const { url } = await serveDemoAgent()
  const sent = await runInMemory(['send', 'parts', '-a', url, '-o', 'json'])
  const { task } = JSON.parse(sent.stdout) as { readonly task: { readonly id: string } }
  const download = (folder: string, ...options: readonly string[]) =>
    runInMemory(['task', 'download', task.id, '-a', url, ...options], { cwd: folder })

  it('saves every part inside the folder, and reports the files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const { code, stdout, stderr } = await download(folder, '--dir', 'out', '-o', 'json')
    assert.equal(code, 0, stderr)
    assert.deepEqual(readdirSync(folder), ['out'])
    assert.deepEqual(readdirSync(join(folder, 'out')).toSorted(), ['chart.png', 'files-1.json', 'notes.txt'])
    assert.deepEqual([...readFileSync(join(folder, 'out', 'chart.png'))], [1, 2, 3])
    assert.equal(readFileSync(join(folder, 'out', 'notes.txt'), 'utf8'), 'First line\nsecond line')
    const report = JSON.parse(stdout) as { version: number; files: { path: string; size: number }[] }
    assert.equal(report.version, 1)
    assert.deepEqual(
      report.files.map(({ path, size }) => [path, size]),
      [
        [join('out', 'notes.txt'), 22],
        [join('out', 'files-1.json'), 21],
        [join('out', 'chart.png'), 3],
      ],
    )
  })

  it('replaces no file unless --force says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    writeFileSync(join(folder, 'chart.png'), 'mine')
    const { code, stderr } = await download(folder, '--artifact', 'files')
    assert.equal(code, 2)
    assert.match(stderr, /--force/)
    assert.equal(readFileSync(join(folder, 'chart.png'), 'utf8'), 'mine')
    assert.deepEqual(readdirSync(folder), ['chart.png'], 'nothing is written if one file cannot be')
    assert.equal((await download(folder, '--artifact', 'files', '--force')).code, 0)
    assert.equal(readFileSync(join(folder, 'chart.png')).length, 3)
    assert.equal((await download(folder, '--artifact', 'nothing')).code, 2)
  })

  it('says that --dir is a file, with --force too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    writeFileSync(join(folder, 'o5'), 'mine')
    for (const options of [
      ['--dir', 'o5'],
      ['--dir', 'o5/in', '--force'],
    ]) {
      const { code, stderr } = await download(folder, ...options)
      assert.equal(code, 2)
      assert.match(stderr, /o5 is a file, not a folder\.\n.*\nHint: Choose another --dir\.$/m)
    }
    assert.equal(readFileSync(join(folder, 'o5'), 'utf8'), 'mine')
  })

  it('writes the content to stdout', async () => {
    const { code, stdout } = await download(cwd, '--artifact', 'notes', '--dir', '-')
    assert.deepEqual([code, stdout], [0, 'First line\nsecond line'])
  })
})
