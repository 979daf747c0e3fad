/** Checks of the tool itself: defaults, configuration, help, completion, the skill, chat, the local agent, the receiver. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSkill, skillFolders } from '../../skill.ts'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonTask } from '../workbench.ts'

export interface SettingRow {
  readonly name: string
  readonly value: string | null
  readonly source: string
}

export const toolChecks: Checks = {
  async A2ACLI_DEFAULT_001(bench) {
    const help = await bench.a2a(['send', '--help'], {
      shows: 'shows the default of transport, waiting, output, detail, version and TLS',
    })
    for (const option of ['transport', 'async', 'output', 'verbose', 'a2a-version', 'insecure'])
      assert.match(help.stdout, new RegExp(`--${option}\\b[\\s\\S]*?Default:`), option)
    const agent = await bench.agent({ grpc: true })
    const plain = await bench.a2a(['send', '-a', agent.url, 'parts'], {
      shows: 'uses the first interface of the card, waits, prints concise text, and sends version 1.0',
    })
    assert.equal(plain.values('State').at(-1), 'TASK_STATE_COMPLETED')
    const first = agent.calls.at(-1)
    assert.equal(first?.version, '1.0')
    const full = await bench.a2a(['send', '-a', agent.url, '--verbose', 'parts'], {
      shows: 'shows more with --verbose',
    })
    assert.ok(full.stdout.length > plain.stdout.length)
    const others = await bench.a2a(
      [
        'send',
        '-a',
        agent.url,
        '--transport',
        'grpc',
        '--async',
        '-o',
        'json',
        '--a2a-version',
        '1.0',
        '--insecure',
        'hold default-001',
      ],
      { shows: 'overrides transport, waiting, output, version and TLS, with a warning' },
    )
    assert.notEqual(others.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(agent.calls.at(-1)?.binding, 'GRPC')
    assert.match(others.stderr, /warning/i)
  },

  async A2ACLI_CONFIG_001(bench) {
    const folder = join(bench.home, '.config/a2a-cli')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, '.env'), 'A2ACLI_BEARER=t0ken-s3cret\n', { mode: 0o644 })
    const agent = await bench.agent()
    const loose = await bench.a2a(['send', '-a', agent.url, 'complete'], {
      shows: 'warns of a file with a credential that others can read',
    })
    assert.match(loose.stderr, /chmod 600/)
    const shown = await bench.a2a(['config', 'show', '-o', 'json'], {
      shows: 'shows every setting with its source, secrets redacted',
    })
    const row = shown.json<{ settings: SettingRow[] }>().settings.find(({ name }) => name === 'bearer')
    assert.match(row?.source ?? '', /\.config\/a2a-cli\/\.env/)
    assert.doesNotMatch(shown.stdout, /t0ken-s3cret/)
    const { readFile, readdir } = await import('node:fs/promises')
    assert.equal(await readFile(join(folder, '.env'), 'utf8'), 'A2ACLI_BEARER=t0ken-s3cret\n')
    const task = await finishedTask(bench, agent, 'complete')
    for (const file of await readdir(bench.home, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        assert.doesNotMatch(await readFile(join(file.parentPath, file.name), 'utf8'), new RegExp(task.id))
    bench.shows('No file under the home folder names a task or a context after these commands.')
  },

  async A2ACLI_CONFIG_002(bench) {
    const global = join(bench.home, '.config/a2a-cli')
    await mkdir(global, { recursive: true })
    const below = join(bench.folder, 'below')
    await mkdir(below)
    await writeFile(join(global, '.env'), 'A2ACLI_POLL_INTERVAL=1s\nA2ACLI_TRANSPORT=rest,jsonrpc\nOTHER=ignored\n')
    await writeFile(join(bench.folder, '.env'), '# local\nexport A2ACLI_POLL_INTERVAL="3s"\n')
    await writeFile(join(bench.folder, 'other.env'), 'A2ACLI_POLL_INTERVAL=4s\n')
    const rows: string[] = []
    const read = async (
      args: readonly string[],
      shows: string,
      env: Readonly<Record<string, string>> = {},
    ): Promise<SettingRow[]> => {
      const run = await bench.a2a(['config', 'show', '-o', 'json', ...args], { shows, env, cwd: below })
      const { settings } = run.json<{ settings: SettingRow[] }>()
      const row = settings.find(({ name }) => name === 'poll-interval')
      rows.push(`${row?.value} ${row?.source.split(/[ /]/)[0]}`)
      return settings
    }
    await read(['--poll-interval', '6s'], 'takes the option first', { A2ACLI_POLL_INTERVAL: '5s' })
    await read([], 'then the environment', { A2ACLI_POLL_INTERVAL: '5s' })
    await read(['--config', '../other.env'], 'then the file of --config')
    const settings = await read([], 'or the nearest .env, found upwards from the working folder')
    await writeFile(join(bench.folder, '.env'), '')
    await read([], 'then the global file')
    await writeFile(join(global, '.env'), '')
    await read([], 'and the default last')
    assert.deepEqual(rows, ['6s flag', '5s env', '4s file', '3s file', '1s file', '2s default'])
    assert.equal(settings.find(({ name }) => name === 'transport')?.value, 'rest,jsonrpc')
  },

  async A2ACLI_CLI_001(bench) {
    const overview = await bench.a2a(['help'], { shows: 'lists the commands' })
    const same = await bench.a2a(['--help'], { shows: 'is the same' })
    assert.equal(same.stdout, overview.stdout)
    for (const command of ['card get', 'send', 'task get', 'task cancel', 'task list', 'task subscribe', 'help'])
      assert.match(overview.stdout, new RegExp(`  ${command}`))
    const [short, long] = [
      await bench.a2a(['task', 'get', '--help'], { shows: 'shows usage, options and effective defaults' }),
      await bench.a2a(['help', 'task', 'get'], { shows: 'is the same' }),
    ]
    assert.equal(short.stdout, long.stdout)
    assert.match(short.stdout, /--poll-interval[\s\S]*?Default: 2s/)
    const version = await bench.a2a(['--version'], { shows: 'prints the version' })
    assert.match(version.stdout, /\d+\.\d+\.\d+/)
    const letter = await bench.a2a(['-v'], { shows: 'prints the version too, before a command' })
    assert.equal(letter.stdout, version.stdout)
  },

  async A2ACLI_CLI_002(bench) {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const run = await bench.a2a(['completion', shell], {
        shows: 'prints a script with the commands and their options',
      })
      for (const word of ['subscribe', 'poll-interval']) assert.match(run.stdout, new RegExp(word))
      if (shell === 'bash') execFileSync('bash', ['-n'], { input: run.stdout })
    }
    await bench.a2a(['completion', 'csh'], { exit: 2, shows: 'refuses a shell that it does not know' })
  },

  async A2ACLI_SKILL_001({ shows }) {
    const folders = await skillFolders()
    assert.deepEqual(folders, ['.agents/skills/a2a'])
    shows('The repository ships one skill: .agents/skills/a2a.')
    const { fields, body } = await readSkill()
    assert.equal(fields['name'], 'a2a')
    assert.ok((fields['description'] ?? '').length > 0 && (fields['description'] ?? '').length <= 1024)
    assert.ok((fields['compatibility'] ?? '').length > 0 && (fields['compatibility'] ?? '').length <= 500)
    assert.match(body, /a2a help/)
    assert.match(body, /--help/)
    assert.ok(body.split('\n').length < 90, 'it is lean')
    shows(
      'Its frontmatter has name, description and compatibility within their limits, and its body refers to `a2a help`.',
    )
    const commands = [
      'push-config',
      'completion',
      'config show',
      'auth status',
      'auth logout',
      'conformance',
      'demo-server',
    ]
    assert.ok(commands.filter((command) => body.includes(command)).length < 3)
    shows('It does not list the commands.')
  },

  async A2ACLI_SKILL_002({ shows }) {
    const { body } = await readSkill()
    assert.doesNotMatch(body, /\bMUST\b|\bSHALL\b|A2ACLI_[A-Z]+_\d{3}|§/)
    shows('The skill has no requirement id, no section of the specification and no MUST.')
    assert.doesNotMatch(body, /npm (install|i) -g .*&&|curl .*\| *sh/)
    shows('It installs nothing.')
  },

  async A2ACLI_CONFORM_001(bench) {
    const agent = await bench.agent({ settings: { strict: true, card: 'merged' } })
    const run = await bench.a2a(['conformance', agent.url, '--read-only', '-o', 'json'], {
      shows: 'checks the agent natively and reports each rule with its section',
    })
    assert.match(run.stdout, /§/)
    const text = await bench.a2a(['conformance', '-a', agent.url, '--read-only', '--only', 'card.*'], {
      shows: 'prints a table for people',
    })
    assert.notEqual(text.stdout, '')
  },

  async A2ACLI_CHAT_001(bench) {
    const agent = await bench.agent()
    const chat = await bench.startInTerminal(['chat', '-a', agent.url])
    const say = async (text: string, answer: RegExp): Promise<void> => {
      chat.write(`${text}\r`)
      await chat.waitFor('stdout', answer)
    }
    await say('context', /This is context [0-9a-f-]{36}/)
    await say('input', /Which city\?/)
    await say('Oslo', /You answered: Oslo/)
    await say('complete', /Done/)
    chat.write('\u0004')
    const run = await chat.ended
    assert.equal(run.code, 0, run.stdout)
    const messages = [...agent.sent('SendStreamingMessage'), ...agent.sent('SendMessage')].map(
      ({ params }) => params['message'] as { contextId?: string; taskId?: string },
    )
    assert.equal(messages.length, 4)
    assert.equal(messages[0]?.contextId, undefined)
    const contexts = new Set(messages.slice(1).map(({ contextId }) => contextId))
    assert.equal(contexts.size, 1)
    const [context = ''] = contexts
    assert.ok(context.length > 0)
    assert.deepEqual(
      messages.map(({ taskId }) => taskId !== undefined),
      [false, false, true, false],
    )
    assert.ok(run.stdout.includes(context), 'the ids are printed at the end')
    bench.shows(
      'In a terminal, `a2a chat` sent four messages: all in one context, and the answer to a question with the task that asked. At the end it printed the ids.',
    )
    await bench.a2a(['chat', '-a', agent.url, 'complete'], { shows: 'sends the text once without a terminal' })
    await bench.a2a(['chat', '-a', agent.url, '-o', 'json'], {
      exit: 2,
      shows: 'never waits for input without a terminal: without a text it is a usage error',
    })
  },

  async A2ACLI_DEMO_SERVER_001(bench) {
    const server = await bench.start(['server', '--echo', '--port', '0'])
    const [, url = ''] = await server.waitFor('stdout', /(http:\/\/127\.0\.0\.1:\d+)/)
    const run = await bench.a2a(['send', '-a', url, '-o', 'json', 'Hello echo'], {
      shows: 'gets its text back from `a2a server --echo`',
    })
    assert.match(JSON.stringify(run.json<{ task: JsonTask }>().task.artifacts), /Hello echo/)
    server.kill('SIGTERM')
    await server.ended
    const exec = await bench.start(['demo-server', '--exec', 'tr a-z A-Z', '--port', '0'])
    const [, execUrl = ''] = await exec.waitFor('stdout', /(http:\/\/127\.0\.0\.1:\d+)/)
    const upper = await bench.a2a(['send', '-a', execUrl, '-o', 'json', 'hello'], {
      shows: 'gets the output of a program from `a2a demo-server --exec`',
    })
    assert.match(JSON.stringify(upper.json<{ task: JsonTask }>().task.artifacts), /HELLO/)
    exec.kill('SIGINT')
    await exec.ended
  },

  async A2ACLI_PUSH_002(bench) {
    const agent = await bench.agent()
    const { id } = await startTask(bench, agent, 'hold push-002')
    const running = await bench.start(['task', 'push-config', 'listen', id, '-a', agent.url, '-o', 'json', '--stream'])
    await running.waitFor('stderr', /127\.0\.0\.1:\d+/)
    agent.gates.open('push-002')
    const run = await bench.finish(running, {
      shows: 'registers itself, prints each notification as a line and ends with the task',
    })
    assert.match(run.stdout, /TASK_STATE_COMPLETED/)
    run.lines()
  },
}
