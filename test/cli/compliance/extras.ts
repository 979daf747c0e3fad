/** What the program does beyond the a2a-cli specification, each shown by a run as the requirements are. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bearer } from './checks/auth.ts'
import type { Check, JsonError, JsonTask } from './workbench.ts'

export interface Extra {
  readonly title: string
  /** Why it breaks no requirement. */
  readonly about: string
  readonly check: Check
}

export const extras: readonly Extra[] = [
  {
    title: 'The message on stdin',
    about:
      'The specification reads stdin for `--data -` only. `send` also reads its message there if the text is `-`, or if there is neither a text nor a part and stdin is no terminal; such a call would be a usage error otherwise.',
    async check({ a2a, agent }) {
      const { url } = await agent()
      for (const args of [['-'], []]) {
        const run = await a2a(['send', '-a', url, '-o', 'json', ...args], {
          stdin: 'complete the order\n',
          shows: 'sends the text of stdin',
        })
        assert.match(run.stdout, /Done: the order/)
      }
      const empty = await a2a(['send', '-a', url, '-o', 'json', '-'], {
        exit: 2,
        shows: 'is a usage error if stdin is empty',
      })
      assert.equal(empty.json<JsonError>().error.code, 'A2ACLI_ERR_USAGE')
    },
  },
  {
    title: '--exit-status',
    about:
      'Exit code 0 means that the agent answered, whatever the state of the task is (§11.6). With `--exit-status`, on `send`, `task get` and `task subscribe`, the code is 1 for a task that failed or was rejected or canceled, and 6 for one that waits for input or a credential.',
    async check({ a2a, agent }) {
      const { url } = await agent()
      for (const [text, exit] of [
        ['complete', 0],
        ['fail', 1],
        ['reject', 1],
        ['input', 6],
        ['auth', 6],
      ] as const) {
        const run = await a2a(['send', '-a', url, '-o', 'json', '--exit-status', text], {
          exit,
          shows: 'prints the task, and exits by its state',
        })
        assert.ok(run.json<{ task: JsonTask }>().task.id.length > 0)
        await a2a(['send', '-a', url, '-o', 'json', text], { shows: 'exits with 0 without the option' })
      }
    },
  },
  {
    title: 'The answer on a terminal',
    about:
      'If stdout is a terminal and no format is set, `send`, `task get --wait` and `task subscribe` print the answer while it comes, then one line with task, context and state, and the command that continues. Pipes, `-o text` and `A2ACLI_OUTPUT=text` get the labels of §11.2; JSON has the same values everywhere; a terminal gets the characters that could control it as escapes.',
    async check(bench) {
      const { url } = await bench.agent()
      const terminal = await bench.startInTerminal(['send', '-a', url, 'chunks'])
      const { stdout } = await terminal.ended
      assert.match(stdout, /one two three\s+.*Task [0-9a-f-]{36}, context [0-9a-f-]{36}: /)
      assert.doesNotMatch(stdout, /Task ID:/)
      bench.shows('In a terminal, `a2a send chunks` printed the text of the answer, and one line with ids and state.')
      const labels = await bench.startInTerminal(['send', '-a', url, '-o', 'text', 'chunks'])
      assert.match((await labels.ended).stdout, /Task ID: [0-9a-f-]{36}/)
      bench.shows('In a terminal, `a2a send -o text chunks` printed the labels.')
    },
  },
  {
    title: 'The .env of a project',
    about:
      "A repository that the user has cloned may have a `.env` that names the agent (§8.3). A credential of a flag, of the environment or of the user's own file goes to that agent only with `--trust-project`, and the file cannot set `--insecure`, `--ca-cert`, `--verify`, `--trusted-keys`, `--svc-param`, `--trust-project` or `--max-answer`. A file that `--config` names is the user's choice. A file in the current folder does not replace a host of its name; with `./` it is meant.",
    async check({ a2a, agent, folder }) {
      const { url } = await agent(bearer('t0ken'))
      await writeFile(join(folder, '.env'), `A2ACLI_AGENT_CARD=${url}\n`)
      const env = { A2ACLI_BEARER: 't0ken' }
      const refused = await a2a(['send', '-o', 'json', 'complete'], {
        env,
        exit: 2,
        shows: 'does not send the token of the user to the agent of the file, and names the file',
      })
      assert.match(refused.json<JsonError>().error.message, /A2ACLI_BEARER is not sent to .*\.env chose this address/)
      await a2a(['send', '-o', 'json', '--trust-project', 'complete'], {
        env,
        shows: 'sends it if the user trusts the file',
      })
      await a2a(['send', '-o', 'json', '--config', '.env', 'complete'], {
        env,
        shows: 'sends it if the user names the file',
      })
      const { host } = new URL(url)
      await writeFile(join(folder, host), '{"name":"Of the folder"}')
      const asked = await a2a(['card', 'get', '-a', host, '-o', 'json'], {
        shows: 'asks the host although the folder has a file of that name',
      })
      assert.doesNotMatch(asked.stdout, /Of the folder/)
    },
  },
  {
    title: '--svc-param and catalogs',
    about:
      'Service parameters go along with every request to the agent (§12.1), and are secrets for some agents. A catalog of another origin does not get them: only that of `<name>@<host>` does, which names the host of the agent.',
    async check({ a2a, agent }) {
      const { url, server } = await agent()
      const get = (shows: string, ...args: string[]) =>
        a2a(['card', 'get', ...args, '--svc-param', 'x-region:eu'], { exit: 3, shows })
      await get('asks a catalog without the parameter', '-a', 'fixture', '--catalog', `${url}/no-catalog`)
      await get('sends the parameter to the host of the agent', '-a', `fixture@${url}`)
      const sent = server.requests.map(({ headers }) => headers['x-region'])
      assert.deepEqual(sent, [undefined, 'eu'])
    },
  },
  {
    title: '--max-answer',
    about:
      'An agent may send without an end. One answer has a limit of 100 MB, which `--max-answer` changes; a stream is one answer, with the connections that continue it. `--timeout` limits the time. What came before the limit is printed.',
    async check({ a2a, agent }) {
      const { url } = await agent()
      for (const mode of [[], ['--stream']]) {
        const args = ['send', '-a', url, '-o', 'json', ...mode, '--max-answer', '100', 'complete']
        const run = await a2a(args, { exit: 1, shows: 'ends with an error that names the option and the limit' })
        const last = JSON.parse(
          mode.length === 0 ? run.stdout : (run.stdout.trimEnd().split('\n').at(-1) ?? ''),
        ) as JsonError
        assert.match(last.error.message, /--max-answer 100\b/)
      }
    },
  },
  {
    title: 'skill install',
    about:
      'The one skill (§14) is in the package, and `a2a skill install` writes it to where coding agents look for it.',
    async check({ a2a, folder }) {
      await a2a(['skill', 'install'], { shows: 'writes .agents/skills/a2a' })
      assert.match(await readFile(join(folder, '.agents/skills/a2a/SKILL.md'), 'utf8'), /^---\nname: a2a\n/)
      await a2a(['skill', 'install'], { shows: 'changes nothing the second time' })
    },
  },
]
