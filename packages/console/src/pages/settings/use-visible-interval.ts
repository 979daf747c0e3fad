/** Polling in the settings. */
export { useVisibleInterval } from '../../api/use-visible-interval.ts'
