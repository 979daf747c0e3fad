/** The six defaults of the specification (§6.5), and what overrides each. */
import type { DefaultRow } from './report.ts'

/** `isShown`: whether the check of the defaults has passed. It tests each of these rows. */
export function defaultRows(isShown: boolean): Readonly<Record<string, DefaultRow>> {
  const row = (note: string): DefaultRow => ({ shipped: isShown, overridable: isShown, note })
  return {
    transport_server_preference_order: row('--transport'),
    task_completion_wait_by_default: row('--async'),
    output_human_readable_text: row('--output'),
    detail_level_concise: row('--verbose'),
    protocol_version_highest_mutual: row('--a2a-version'),
    transport_security_tls_on: row('--insecure, which always warns'),
  }
}
