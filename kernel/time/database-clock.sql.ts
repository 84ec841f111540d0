// The statement that reads PostgreSQL's clock: not that of the beginning of a transaction.
export const selectInstant = 'select clock_timestamp() as now';
