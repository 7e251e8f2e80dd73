import { maintainEventLog, maintainPartitions } from '../platform/events/partitions.ts'

const DELIVERY_DAYS = 7

/** Creates and drops the partitions of all logs, the tables that are partitioned by day. */
export async function maintainLogs(url: string, eventDays: number) {
  const maintained = [
    await maintainEventLog(url, eventDays),
    await maintainPartitions(url, DELIVERY_DAYS, Date.now(), 'webhook_deliveries'),
  ]
  return {
    made: maintained.flatMap(({ made }) => made),
    dropped: maintained.flatMap(({ dropped }) => dropped),
  }
}
