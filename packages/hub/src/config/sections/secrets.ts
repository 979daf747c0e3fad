/** The section `secrets`: where the values of references such as `${vault:path}` come from. */
import { z } from 'zod'
import { duration, durationOrOff, nonEmpty, secret } from '../values.ts'

const builtIn = ['env', 'file', 'hub']

const providerSchema = z
  .strictObject({
    command: z
      .array(nonEmpty)
      .min(1, 'is empty')
      .optional()
      .describe('A program that prints a secret, with its arguments. {name} is the name of the secret.'),
    module: nonEmpty.optional().describe('A file that exports a SecretProvider as default.'),
    env: z.record(z.string(), secret).default({}).describe('Environment variables of the program.'),
    refresh: durationOrOff.prefault('5m').describe('How often secrets are read again, or off. Default 5m.'),
    timeout: duration.prefault('10s').describe('How long reading a secret may take. Default 10s.'),
  })
  .refine(
    ({ command, module }) => (command === undefined) !== (module === undefined),
    'must have either a command or a module',
  )

export const secretsSection = z
  .record(
    z
      .string()
      .regex(/^[a-z][a-z0-9-]*$/, 'must be a name of lower-case letters, digits and dashes')
      .refine((name) => !builtIn.includes(name), 'is built in: choose another name'),
    providerSchema,
  )
  .prefault({})
  .describe('Providers of secrets by name: ${vault:path} is read by the provider vault.')
