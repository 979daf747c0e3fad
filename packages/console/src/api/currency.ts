/** The currency of costs, by its code of ISO 4217, once the hub has named it. */
import { signal } from '@preact/signals'

export const currency = signal<string | undefined>(undefined)
