void ranges_of_first(int count);
void ranges_of_second(int count);

int main(void)
{
	ranges_of_first(3);
	ranges_of_second(4);
	return 0;
}
