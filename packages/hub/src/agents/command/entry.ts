/** Schema of a `command` entry of the configuration. */
import { z } from 'zod'
import { duration, nonEmpty, size } from '../../config/values.ts'

const command = z
  .union(
    [
      z.array(z.string()).min(1, 'must not be empty: start with the program'),
      nonEmpty.transform((program) => [program]),
    ],
    'must be a list of the program and its arguments: [node, agent.js]',
  )
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .refine(([program]) => program !== '', 'must start with the program')
  .describe('The program and its arguments. No shell is used; for a shell: [sh, -c, "…"].')

export const commandEntry = z
  .strictObject({
    command,
    mode: z
      .enum(['turn', 'keep'])
      .default('turn')
      .describe('One program per message, or one per conversation that is kept running.'),
    protocol: z
      .enum(['text', 'jsonl'])
      .default('text')
      .describe('The format on stdin and stdout: plain text or JSON lines.'),
    end: z
      .string()
      .regex(/^[^\r\n]*$/, 'must be one line')
      .default('')
      .describe('With mode keep and plain text: the line that ends a message and an answer. Default: an empty line.'),
    cwd: nonEmpty.optional().describe('The working directory. Default: the folder of the configuration file.'),
    env: z
      .record(nonEmpty.regex(/^[^=\0]+$/, 'must be the name of an environment variable'), z.string())
      .default({})
      .meta({
        description:
          'Environment variables, in addition to PATH, HOME, LANG and similar. Nothing else is inherited from the hub.',
        writeOnly: true,
      }),
    files: z
      .enum(['paths', 'base64', 'none'])
      .default('paths')
      .describe('How files of the message are passed: in a folder, in the JSON line, or not at all.'),
    resume: z
      .enum(['fail', 'rerun'])
      .default('fail')
      .describe('What happens to a turn that was running when the hub stopped.'),
    processes: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .default(8)
      .describe('How many run concurrently. More messages wait.'),
    idleTimeout: duration
      .prefault('10m')
      .describe('With mode keep: idle time after which a program is stopped. Default 10m.'),
    killGrace: duration.prefault('5s').describe('Time to exit after a stop request. Default 5s.'),
    outputLimit: size.prefault('10MB').describe('The maximum output per message. Default 10MB.'),
  })
  .superRefine(({ mode, protocol, files, command: [, ...args] }, { addIssue }) => {
    if (files === 'base64' && protocol === 'text') {
      addIssue({ code: 'custom', path: ['files'], message: 'base64 requires protocol: jsonl' })
    }
    if (mode === 'keep' && args.some((arg) => placeholder.test(arg))) {
      addIssue({
        code: 'custom',
        path: ['command'],
        message: 'mode: keep cannot pass the message as an argument: use mode: turn',
      })
    }
  })

/** Placeholders in an argument. */
export const placeholder = /\{(text|taskId|contextId|dir)\}/

export type CommandEntry = z.output<typeof commandEntry>
