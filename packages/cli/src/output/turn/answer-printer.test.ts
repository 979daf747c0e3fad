/** What `send`, `task get --wait` and `task subscribe` print on a terminal, against a real agent. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import {
  artifact,
  authRequired,
  data,
  fail,
  file,
  inputRequired,
  memoryStore,
  reject,
  reply,
  status,
  type AgentFunction,
  type Task,
} from '@parley/a2a'
import { approvalMessage } from '@parley/a2a/internal'
import { serve } from '@parley/a2a/node'
import { credentials } from '@parley/a2a/server'
import { runA2a } from '../../run.ts'
import { createMemoryTerminal, runInMemory } from '../../testing/memory-terminal.ts'

const gate = Promise.withResolvers<void>()
const options = [
  { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]
const form = {
  type: 'object',
  properties: { city: { type: 'string', title: 'City', enum: ['Oslo', 'Bergen'] }, nights: { type: 'integer' } },
  required: ['city', 'nights'],
}
const png = () => file(new Uint8Array([1, 2, 3]), { name: 'chart.png', mediaType: 'image/png' })

/** What the agent does, by the text of the message. */
const turns: Readonly<Record<string, AgentFunction>> = {
  async *chunks() {
    for (const chunk of ['one ', 'two ', 'three']) yield chunk
  },
  async *hostile() {
    for (const chunk of ['a\u001B', '[31mb\u009B', '2Jc\r', '\nd\uD83D', '\uDE00e\u202E', '!']) yield chunk
  },
  async *lines() {
    for (const chunk of ['one\n', '\n', 'two\n', '\n\n']) yield chunk
  },
  async *hold() {
    yield 'before '
    await gate.promise
    yield 'after'
  },
  async *files() {
    yield status('Looking')
    yield artifact('notes', { name: 'notes', text: 'Notes' })
    const link = { url: 'https://files.example/terms.pdf', filename: 'terms.pdf', mediaType: 'application/pdf' }
    yield artifact('rest', { name: 'rest', parts: [data({ city: 'Oslo' }), png(), link, { text: 'End' }] })
  },
  async *replaced() {
    yield artifact('a', { text: 'A draft' })
    yield artifact('a', { text: 'A draft that grows' })
    yield artifact('a', { text: 'Another text' })
  },
  message: () => reply('A direct answer'),
  fail: () => fail('The disk is full'),
  reject: () => reject('Not today'),
  async *permission() {
    yield 'Working. '
    yield inputRequired(approvalMessage({ title: 'Run rm', options, arguments: { command: 'rm -r build' } }))
  },
  form: () => inputRequired({ parts: [{ text: 'Where to?' }, { data: { requestedSchema: form } }] }),
  auth: () =>
    authRequired('Connect your account.', {
      schemes: { git: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      inBand: true,
    }),
}

const server = await serve({
  name: 'Turns',
  agent: (turn) => (turns[turn.text] ?? (() => `You said ${turn.text}`))(turn),
  port: 0,
  store: memoryStore(),
  quiet: true,
  drainMs: 0,
  extensions: [credentials()],
})
after(() => server.close())

const id = '[0-9a-f-]{36}'
const environment = { NO_COLOR: '1' }
const run = (...args: readonly string[]) => runInMemory([...args, '-a', server.url], { isTerminal: true, environment })

/** The output, with ids and address replaced. */
async function shown(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  assert.deepEqual([code, stderr], [0, ''])
  return stdout.replaceAll(new RegExp(id, 'g'), '<id>').replaceAll(server.url, '<url>')
}

describe('send on a terminal', () => {
  it('prints the answer, then one line with the ids and the state', async () => {
    assert.equal(await shown('send', 'chunks'), 'one two three\n\nTask <id>, context <id>: completed\n')
    assert.equal(await shown('send', 'chunks', '--stream'), 'one two three\n\nTask <id>, context <id>: completed\n')
    assert.equal(await shown('send', 'message'), 'A direct answer\n\nContext <id>\n')
  })

  it('leaves out the empty lines at the end of an answer, and no others', async () => {
    assert.equal(await shown('send', 'lines'), 'one\n\ntwo\n\nTask <id>, context <id>: completed\n')
  })

  it('prints each piece when it comes, and the command that follows the task at Ctrl-C', async () => {
    const terminal = createMemoryTerminal({ isTerminal: true, environment })
    const running = runA2a(['send', 'hold', '-a', server.url], terminal)
    await terminal.untilOutput('before ')
    terminal.interrupt()
    assert.equal(await running, 130)
    // The line of the answer has ended before the message.
    assert.equal(terminal.stdout, 'before \n')
    const [, resume = ''] = /^Resume: a2a (task get .*)$/m.exec(terminal.stderr) ?? []
    gate.resolve()
    const followed = await runInMemory(resume.split(' '), { isTerminal: true, environment })
    assert.match(followed.stdout, /^before after\n\nTask .*: completed\n$/)
  })

  it('shows control characters as escapes, also if they are split over chunks', async () => {
    const expected = 'a\\u001b[31mb\\u009b2Jc\nd😀e\\u202e!\n\nTask <id>, context <id>: completed\n'
    assert.equal(await shown('send', 'hostile'), expected)
  })

  it('escapes them with -o json on a terminal, in the same values as in a pipe', async () => {
    const args = ['send', 'hostile', '-a', server.url, '-o', 'json']
    const [inTerminal, inPipe] = [await runInMemory(args, { isTerminal: true }), await runInMemory(args)]
    const artifacts = ({ stdout }: typeof inPipe) => (JSON.parse(stdout) as { task: Task }).task.artifacts
    assert.deepEqual(artifacts(inTerminal)?.[0]?.parts, artifacts(inPipe)?.[0]?.parts)
    const streamed = await runInMemory([...args, '--stream'], { isTerminal: true })
    for (const { stdout } of [inTerminal, streamed]) assert.doesNotMatch(stdout, /[\u007f-\u009f\u202e]/)
    assert.match(inPipe.stdout, /\u009b.*\u202e/)
  })

  it('prints data as JSON, files as links or with the command that saves them, and several artifacts apart', async () => {
    assert.deepEqual((await shown('send', 'files')).split('\n'), [
      '… Looking',
      'Notes',
      'Artifact: rest',
      '{',
      '  "city": "Oslo"',
      '}',
      'File: chart.png (image/png, 3 B)',
      'File: terms.pdf (application/pdf): https://files.example/terms.pdf',
      'End',
      '',
      'Task <id>, context <id>: completed',
      'Download: a2a task download -a <url> <id>',
      '',
    ])
  })

  it('continues an artifact that is sent as a whole again, and marks one that is replaced', async () => {
    const expected = 'A draft that grows\n[replaced by]\nAnother text\n\nTask <id>, context <id>: completed\n'
    assert.equal(await shown('send', 'replaced'), expected)
  })

  it('prints why a task failed or was rejected, and its exit code with --exit-status', async () => {
    assert.equal(await shown('send', 'fail'), 'The disk is full\n\nTask <id>, context <id>: failed\n')
    assert.equal(await shown('send', 'reject'), 'Not today\n\nTask <id>, context <id>: rejected\n')
    assert.equal((await run('send', 'fail', '--exit-status')).code, 1)
    assert.equal((await run('send', 'permission', '--exit-status')).code, 6)
  })

  it('has the labels of the specification with -o text, in the environment too, and JSON that does not depend on it', async () => {
    assert.match((await run('send', 'chunks', '-o', 'text')).stdout, /^Task ID: .*\n(.*\n)*Text: one two three\n$/)
    const configured = await runInMemory(['send', 'chunks', '-a', server.url], {
      isTerminal: true,
      environment: { ...environment, A2ACLI_OUTPUT: 'text' },
    })
    assert.match(configured.stdout, /^Task ID: /)
    assert.match((await runInMemory(['send', 'chunks', '-a', server.url])).stdout, /^Task ID: /)
    for (const mode of [[], ['--stream']]) {
      const args = ['send', 'permission', '-a', server.url, '-o', 'json', ...mode]
      const [inTerminal, inPipe] = [await runInMemory(args, { isTerminal: true }), await runInMemory(args)]
      const shape = (text: string) =>
        text.replaceAll(new RegExp(id, 'g'), '').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
      assert.equal(shape(inTerminal.stdout), shape(inPipe.stdout))
    }
  })

  it('has styles unless NO_COLOR is set', async () => {
    const { stdout } = await runInMemory(['send', 'Some **bold** text', '-a', server.url], { isTerminal: true })
    assert.ok(stdout.startsWith('You said Some \u001B[1mbold\u001B[22m text\n\n\u001B[2mTask '), stdout)
    assert.equal((await run('send', '**bold**')).stdout.includes('\u001B'), false)
  })
})

describe('a question on a terminal', () => {
  it('for a permission is a sentence and a choice, which the printed command answers', async () => {
    const { stdout } = await run('send', 'permission')
    assert.deepEqual(stdout.replaceAll(new RegExp(id, 'g'), '<id>').replaceAll(server.url, '<url>').split('\n'), [
      'Working. ',
      'The agent asks for permission: Run rm',
      '',
      '1. Allow once',
      '2. Reject',
      '',
      'Answer with a number, or with the name of an option.',
      'arguments: {"command":"rm -r build"}',
      '',
      'Task <id>, context <id>: input required',
      'Resume: a2a send -a <url> --task-id <id> "<reply>"',
      '',
    ])
    const [taskId = ''] = new RegExp(id).exec(stdout) ?? []
    // Not what the task had before the answer.
    assert.equal(await shown('send', '--task-id', taskId, '1'), 'You said 1\n\nTask <id>, context <id>: completed\n')
  })

  it('with a form lists the fields that its text leaves out, and how to answer them', async () => {
    assert.deepEqual((await shown('send', 'form')).split('\n'), [
      'Where to?',
      '- city: City [Oslo | Bergen]',
      '- nights',
      '',
      'Task <id>, context <id>: input required',
      `Resume: a2a send -a <url> --task-id <id> --data '{"city":"<city>","nights":"<nights>"}'`,
      '',
    ])
  })

  it('for a secret names the schemes, and a command that keeps it out of the history of the shell', async () => {
    assert.deepEqual((await shown('send', 'auth')).split('\n'), [
      'Connect your account.',
      'Sign in with git (HTTP Bearer)',
      '',
      'Task <id>, context <id>: auth required',
      'Resume: a2a send -a <url> --task-id <id> -',
      '',
    ])
  })

  it('is shown with all its data by --verbose', async () => {
    assert.match((await run('send', 'permission', '--verbose')).stdout, /"requestedSchema"/)
  })
})
