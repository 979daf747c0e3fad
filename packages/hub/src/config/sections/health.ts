/** The section `health`: when an agent counts as down or slow, and how often it is checked. */
import { z } from 'zod'
import { duration, durationOrNone } from '../values.ts'

export const healthSection = z.strictObject({
  every: durationOrNone.prefault('1m').meta({ description: 'The interval of health checks, or none. Default 1m.' }),
  timeout: duration.prefault('10s').meta({ description: 'The timeout of a health check. Default 10s.' }),
  slow: durationOrNone
    .prefault('30s')
    .meta({ description: 'An agent is slow if its first output usually takes longer. Default 30s.' }),
  failures: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(5)
    .meta({ description: 'Consecutive failures that open the circuit breaker. Default 5.' }),
  rest: duration
    .prefault('30s')
    .meta({ description: 'How long the circuit breaker stays open before one task is tried. Default 30s.' }),
})

export type HealthConfig = z.output<typeof healthSection>
