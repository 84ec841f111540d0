-- Of an allotment only calls that were served are spent: all others come back when it is closed or its gateway has ended.

-- `spent` is the sum that gateways have reported as served; before, it was the total drawn.
alter table accounts.quota_allotments rename column drawn to spent;
-- When the gateway that holds the allotment last showed that it runs.
alter table accounts.quota_allotments rename column topped_up_at to seen_at;
alter table accounts.quota_allotments rename constraint quota_allotments_drawn_check to quota_allotments_spent_check;
