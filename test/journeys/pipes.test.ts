/** A terminal user and a script: what is piped into `a2a send`, and what its exit status is. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeJourney } from './journey.ts'
import type { Terminal } from './terminal.ts'

const config = `agents:
  words: { kind: command, command: [wc, -w] }
  upper: { kind: command, command: [tr, a-z, A-Z] }
  broken: { kind: command, command: [sh, -c, 'echo "no disk" >&2; exit 3'] }
  concierge: { kind: demo, agent: concierge }
`

/** Acts on the exit status, as a scheduled job does. */
const job = `#!/bin/sh
for agent in upper broken concierge; do
  echo hello | a2a send --exit-status -a "$1/a2a/$agent" > "$agent.out" 2> "$agent.err"
  echo "$agent: $?"
done
a2a send -a "$1/a2a/broken" hello > out 2> err
echo "without the flag: $?"
`

describeJourney('a script that pipes into a2a send', (step) => {
  let terminal: Terminal
  let folder = ''

  step('reads the message from stdin, and never where a text is given', async (machine) => {
    folder = await machine.folder('hub', { 'parley.yaml': config, 'notes.txt': 'one two\nthree\n', 'job.sh': job })
    await (await machine.terminal(folder)).start('parley up', /Stop with Ctrl-C/)
    terminal = await machine.terminal(folder)
    await terminal.run(`words=${machine.url}/a2a/words upper=${machine.url}/a2a/upper`)
    assert.match(await terminal.run('cat notes.txt | a2a send -a $words -'), /\b3\b/)
    assert.match(await terminal.run('a2a send -a $words < notes.txt'), /\b3\b/)
    const lines = await terminal.run('while read line; do a2a send -a $upper "$line"; done < notes.txt')
    assert.match(lines, /ONE TWO[\s\S]*THREE/, 'a text leaves stdin to the loop')
  })

  step('shows the answer to a person, and labelled lines to a program', async () => {
    const shown = await terminal.run('a2a send -a $upper hello')
    assert.match(shown, /^HELLO$/m)
    assert.doesNotMatch(shown, /^(Text|Task ID|State): /m)
    assert.match(
      await terminal.run('a2a send -a $upper hello | cat'),
      /^State: TASK_STATE_COMPLETED$[\s\S]*^Text: HELLO/m,
    )
    const json = await terminal.run('a2a send -a $upper -o json hello 2> progress')
    assert.equal(
      (JSON.parse(json) as { task: { status: { state: string } } }).task.status.state,
      'TASK_STATE_COMPLETED',
    )
  })

  step('acts on the exit status', async (machine) => {
    assert.equal(
      await terminal.run(`sh job.sh ${machine.url}`),
      'upper: 0\nbroken: 1\nconcierge: 6\nwithout the flag: 0\n',
    )
    assert.match(readFileSync(join(folder, 'upper.out'), 'utf8'), /HELLO/)
  })
})
