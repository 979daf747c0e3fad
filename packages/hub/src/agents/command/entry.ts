/** Schema of a `command` entry of the configuration. */
import { z } from 'zod'
import { duration, nonEmpty, size } from '../../config/values.ts'

const command = z
  .union(
    [z.array(z.string()).min(1, 'is empty: name the program'), nonEmpty.transform((program) => [program])],
    'give the program and its arguments as a list: [node, agent.js]',
  )
  .transform(([program = '', ...args]): readonly [string, ...string[]] => [program, ...args])
  .refine(([program]) => program !== '', 'name the program first')
  .meta({ description: 'The program and its arguments. No shell is asked: [sh, -c, "…"] if you want one.' })

export const commandEntry = z
  .strictObject({
    command,
    mode: z
      .enum(['turn', 'keep'])
      .default('turn')
      .meta({ description: 'A program for each message, or one for each conversation that is kept alive.' }),
    protocol: z
      .enum(['text', 'jsonl'])
      .default('text')
      .meta({ description: 'How it is spoken to: plain text, or JSON lines.' }),
    end: z
      .string()
      .regex(/^[^\r\n]*$/, 'give one line')
      .default('')
      .meta({
        description:
          'With mode keep and plain text: the line that ends a message and an answer. Default: an empty one.',
      }),
    cwd: nonEmpty.optional().meta({ description: 'Where it runs. Default: where the configuration file is.' }),
    env: z
      .record(nonEmpty.regex(/^[^=\0]+$/, 'is no name of a variable'), z.string())
      .default({})
      .meta({
        description:
          'Its environment, beside PATH, HOME, LANG and the like. Nothing else of the hub’s own is inherited.',
        writeOnly: true,
      }),
    files: z
      .enum(['paths', 'base64', 'none'])
      .default('paths')
      .meta({ description: 'How it gets files of the message: in a folder, inside the JSON line, or not at all.' }),
    resume: z
      .enum(['fail', 'rerun'])
      .default('fail')
      .meta({ description: 'What becomes of a message that was being answered when the hub stopped.' }),
    processes: z
      .int('give a whole number')
      .min(1, 'give 1 or more')
      .default(8)
      .meta({ description: 'How many run at once. Further messages wait.' }),
    idleTimeout: duration
      .prefault('10m')
      .meta({ description: 'With mode keep: a program that was not needed for so long is ended. Default 10m.' }),
    killGrace: duration
      .prefault('5s')
      .meta({ description: 'How long it may take to end when it is told to. Default 5s.' }),
    outputLimit: size.prefault('10MB').meta({ description: 'Of what it says to one message. Default 10MB.' }),
  })
  .superRefine(({ mode, protocol, files, command: [, ...args] }, { addIssue }) => {
    if (files === 'base64' && protocol === 'text') {
      addIssue({ code: 'custom', path: ['files'], message: 'base64 needs protocol: jsonl' })
    }
    if (mode === 'keep' && args.some((arg) => placeholder.test(arg))) {
      addIssue({
        code: 'custom',
        path: ['command'],
        message: 'a program that is kept has no message in its arguments: use mode: turn',
      })
    }
  })

/** Placeholders in an argument. */
export const placeholder = /\{(text|taskId|contextId|dir)\}/

export type CommandEntry = z.output<typeof commandEntry>
