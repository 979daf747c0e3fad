/** The section `health`: when an agent counts as down or slow, and how often it is checked. */
import { z } from 'zod'
import { duration, durationOrNone } from '../values.ts'

export const healthSection = z.strictObject({
  every: durationOrNone
    .prefault('1m')
    .meta({ description: 'How often agents that can be are asked whether they are there; or none. Default 1m.' }),
  timeout: duration.prefault('10s').meta({ description: 'How long the answer to that may take. Default 10s.' }),
  slow: durationOrNone
    .prefault('30s')
    .meta({ description: 'An agent that usually takes longer until its first word is slow. Default 30s.' }),
  failures: z
    .int('give a whole number')
    .min(1, 'give 1 or more')
    .default(5)
    .meta({ description: 'So many failures in a row, and nothing is handed on to it for a while. Default 5.' }),
  rest: duration
    .prefault('30s')
    .meta({ description: 'How long that is; then one task is handed on to see. Default 30s.' }),
})

export type HealthConfig = z.output<typeof healthSection>
