import { z } from 'zod'
import { errorStatus, fault, milliseconds } from './trigger.ts'

/** The operations that change something at the service. */
const actionNames = [
  'monitor_create',
  'monitor_update',
  'monitor_delete',
  'monitor_validate',
  'monitor_test',
  'template_create',
  'template_delete',
] as const
export type ActionName = (typeof actionNames)[number]

/** The actions that a fault is for. None named means all. */
const only = z.array(z.enum(actionNames)).default([])

/** Faults of the operations that change something. `Before` and `After` are relative to the change. */
export const actionFaults = {
  /** The connection is cut and nothing was changed. */
  dropBeforeAction: fault({ only }),
  /** The change is made, and the connection is cut instead of an answer. */
  dropAfterAction: fault({ only }),
  /** The change is made, and the server still answers with an error. */
  errorAfterAction: fault({ only, status: errorStatus.default(500) }),
  /** An action waits before it makes its change, and again between the change and the answer. */
  slowAction: fault({ only, beforeMs: milliseconds.default(0), afterMs: milliseconds.default(0) }),
}

/** Faults of what monitors send to webhooks. They hit detections, not test or validation deliveries. */
export const deliveryFaults = {
  /** A delivery is sent again: the same bytes under the same id, or the same signals as a delivery of its own. */
  deliveryRepeat: fault({ times: z.int().min(1).max(10).default(1), anew: z.boolean().default(false) }),
  /** A delivery waits before it is sent. */
  deliveryDelay: fault({ delayMs: milliseconds.default(1000) }),
  /** A delivery is held back until a later one of its monitor has been sent, or until the control route `flush`. */
  deliveryReorder: fault({}),
  /** Nothing is sent. Afterwards the delivery goes out late, as a reordered one does; or never, where it is lost. */
  deliveryOutage: fault({ lost: z.boolean().default(false) }),
  /** A delivery that is not answered with 2xx in time is tried again. */
  deliveryRules: z
    .strictObject({
      attempts: z.int().min(1).max(10).default(3),
      pauseMs: milliseconds.default(200),
      timeoutMs: milliseconds.min(1).default(10_000),
    })
    .prefault({}),
}
