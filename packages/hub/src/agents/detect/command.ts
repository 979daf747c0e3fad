/** Any program: what is none of the others is told the text of a message on its input, and what it prints is the answer. */
import type { Detector } from './detect.ts'
import { isCommand, programIn } from './program.ts'

export const commandDetector: Detector = {
  kind: 'command',
  applies: isCommand,
  async detect(target, parts) {
    const { entry, name } = await programIn(target, parts)
    const note =
      'It speaks no protocol that is known here, so it gets the text of each message on its input: see docs/agents/command.md.'
    return { kind: 'command', name, entry, notes: [note] }
  },
}
